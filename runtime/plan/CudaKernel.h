// Compiled kernels as launches on a GPU see them.
#pragma once

#include "compiler/jit/ScalarProgram.h"
#include "runtime/driver/Module.h"

#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

namespace fw::plan {

/// Operations of scalar programs, by their codes.
using ScalarCodes = std::bitset<64>;
ScalarCodes codesOf(const jit::ScalarProgram &scalars);

/// Shared by every plan and launch of a program. `module` loads itself where it is first needed.
struct CudaKernel {
  CudaKernel(std::string_view image, std::string symbol) : module(image, std::move(symbol)) {}

  mutable driver::Module module;
  std::vector<uint32_t> operands; ///< columns of the launch, as places in Program::operands
  std::vector<unsigned> bytes;    ///< of an element of each column
  unsigned threads = 0;
  uint32_t chunk = 0; ///< elements of a block
  uint32_t vec = 1;
  uint64_t rowsPerBlock = 0; ///< of pattern rows, which takes fw::RowsLaunch
  int axes = 0;              ///< of its records
  size_t slots = 0;
  bool doubleScalars = false;
  unsigned sharedBytes = 0; ///< that a launch asks for
  bool startsEarly = false; ///< it waits for the kernel before it by itself
  bool reduces = false;     ///< takes fw::ReduceLaunch, else fw::ElementsLaunch
  ScalarCodes codes;        ///< of the scalar programs that its last block can run

  /// Of a row of the scalar table.
  size_t rowBytes() const { return slots * (doubleScalars ? sizeof(double) : sizeof(float)); }
  /// Its operands in a launch of so many elements.
  uint64_t loadedBytes(uint64_t elements) const;
};

/// The kernels of a program, by stage; null where a stage has none.
struct CudaProgram {
  std::vector<std::unique_ptr<const CudaKernel>> kernels;
};

} // namespace fw::plan
