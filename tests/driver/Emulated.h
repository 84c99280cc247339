// Kernels of an emulator's bundle as twins of the fake driver.
#pragma once

#include "tests/driver/Cuda.h"
#include "tests/emulator/Bundle.h"

#include <string>

namespace fw::driver {

inline const char *runEmulated(const void *self, const fake_cuda_launch *launch) {
  const auto &kernel = *static_cast<const emulator::BundledKernel *>(self);
  thread_local std::string fault;
  const auto found = emulator::emulate(kernel, launch->grid, launch->parameters, launch->seed);
  fault = found.value_or("");
  return found ? fault.c_str() : nullptr;
}

/// False: another kernel has the symbol. Variants of an op share theirs, so a test that wants them
/// registers one, and forgets it before the next.
inline bool registerEmulated(const FakeControl &fake, const emulator::BundledKernel &kernel) {
  const fake_cuda_kernel twin{.symbol = kernel.symbol,
                              .threads = static_cast<unsigned>(kernel.threads),
                              .parameterBytes = kernel.parameterBytes,
                              .self = &kernel,
                              .run = runEmulated};
  return fake.register_kernel(&twin);
}

} // namespace fw::driver
