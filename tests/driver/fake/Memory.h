// Memory of devices, and page-locked memory of the host.
#pragma once

#include "tests/driver/fake/State.h"

namespace fw::driver::fake {

/// The allocation that has `address`, or null.
std::shared_ptr<Allocation> allocationAt(uint64_t address);

/// The error, if any, of copying from or to device memory in a stream of `context`.
CUresult checkDevice(const Context *context, uint64_t address, size_t bytes);
/// The same for the host's side of a copy.
CUresult checkHost(const void *address, size_t bytes);
bool isPageLocked(const void *address);

/// Frees everything that a context has.
void releaseAll(const Context &context);

/// Guards that something wrote to become violations.
void checkGuards();

} // namespace fw::driver::fake
