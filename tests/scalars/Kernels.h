// The emitted kernel `fw_scalars`, compiled for the host's emulator, and mutants of it.
#pragma once

#include "templates/vocab/scalars_launch.h"

#include <cstdint>
#include <optional>
#include <string>

namespace fw::scalars {

struct EmulatedKernel {
  const char *name = nullptr; ///< "emitted", or what the mutant does
  void (*enter)(const void *launch) = nullptr;
};

/// Ends with a row without a name; the first one is the unchanged text.
extern "C" const EmulatedKernel fw_scalars_kernels[];

/// What went wrong, or nothing.
std::optional<std::string> emulate(const EmulatedKernel &kernel, const ScalarsLaunch &launch,
                                   uint64_t seed);

} // namespace fw::scalars
