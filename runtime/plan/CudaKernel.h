// A compiled kernel as launches on a GPU see it.
#pragma once

#include "runtime/driver/Module.h"

#include <cstdint>
#include <vector>

namespace fw::jit {
struct ScalarProgram;
}

namespace fw::plan {

/// Shared by every plan and launch of a program. `module` loads itself where it is first needed.
struct CudaKernel {
  CudaKernel(std::string_view image, std::string symbol) : module(image, std::move(symbol)) {}

  mutable driver::Module module;
  std::vector<uint32_t> operands; ///< columns of the launch, as places in Program::operands
  std::vector<unsigned> bytes;    ///< of an element of each column
  unsigned threads = 0;
  uint32_t chunk = 0; ///< elements of a block
  uint32_t vec = 1;
  size_t slots = 0;
  bool doubleScalars = false;
  const jit::ScalarProgram *scalars = nullptr; ///< for inputs that only the device knows
  std::vector<size_t> scalarInputs;            ///< its inputs, as places in Program::hypers

  /// Of a row of the scalar table.
  size_t rowBytes() const { return slots * (doubleScalars ? sizeof(double) : sizeof(float)); }
};

} // namespace fw::plan
