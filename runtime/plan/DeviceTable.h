// A table in device memory that the host rewrites now and then.
#pragma once

#include "runtime/driver/Memory.h"
#include "runtime/driver/Module.h"

#include <atomic>
#include <functional>
#include <span>
#include <vector>

namespace fw::plan {

/// Where and how a plan's memory is had.
struct DeviceWorld {
  const driver::Driver *driver = nullptr;
  driver::CUcontext context = nullptr;
  int device = 0;
  const driver::Allocator *allocator = nullptr;
  std::atomic<uint64_t> *uploads = nullptr, *modules = nullptr, *launches = nullptr; ///< counters
  /// The kernel `fw_scalars` for the device's target.
  std::function<Result<driver::Module *>()> scalarsModule;
};

/// A version that a captured graph reads is never written again: a change makes a new version, and
/// the old one stays until the plan ends.
class DeviceTable {
public:
  /// `capacity` bytes; none are read before the first update.
  static Result<DeviceTable> make(const DeviceWorld &world, size_t capacity);

  /// Brings `bytes` (at most the capacity) to the device, in the order of `stream`. Inside a
  /// capture they are there at once, in memory that nothing else uses.
  Result<void> update(const DeviceWorld &world, std::span<const std::byte> bytes,
                      driver::CUstream stream, bool capturing);

  /// A graph has taken the address.
  void freeze() { frozen = true; }

  uint64_t address() const { return memory.address(); }
  size_t workspaceBytes() const;

private:
  Result<void> renew(const DeviceWorld &world);

  driver::DeviceMemory memory;
  std::vector<driver::DeviceMemory> retired;
  size_t capacity = 0;
  bool frozen = false;
  bool used = false; ///< by a launch that may still run
};

} // namespace fw::plan
