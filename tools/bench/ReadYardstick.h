// The yardstick of programs that only read: a bare kernel that loads every byte once. The fastest
// shape counts.
#pragma once

#include "compiler/jit/KernelCompiler.h"
#include "runtime/driver/Module.h"
#include "tools/bench/ReadShape.h"

#include <memory>
#include <string>
#include <vector>

namespace fw::bench {

class ReadYardstick {
public:
  /// Compiles and loads all shapes for the device whose context is current; `arch` is its target.
  static Result<std::unique_ptr<ReadYardstick>> create(const driver::Driver &driver,
                                                       const std::string &arch);

  /// Queues a read of `bytes` (whole vectors of 16) at `address`.
  Result<void> launch(const ReadShape &shape, uint64_t address, uint64_t bytes, uint64_t sink,
                      driver::CUstream stream) const;

private:
  struct Kernel {
    jit::CompiledKernel code;
    std::unique_ptr<driver::Module> module;
    driver::CUfunction function = nullptr;
  };
  explicit ReadYardstick(const driver::Driver &driver) : cuda(driver) {}

  const driver::Driver &cuda;
  std::vector<Kernel> kernels; ///< of each shape
};

} // namespace fw::bench
