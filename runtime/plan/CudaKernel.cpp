#include "runtime/plan/CudaKernel.h"

namespace fw::plan {

ScalarCodes codesOf(const jit::ScalarProgram &scalars) {
  ScalarCodes codes;
  for (const ScalarOperation &operation : scalars.operations)
    codes.set(size_t(operation.code));
  return codes;
}

uint64_t CudaKernel::loadedBytes(uint64_t elements) const {
  uint64_t perElement = 0;
  for (unsigned each : bytes)
    perElement += each;
  return elements * perElement;
}

} // namespace fw::plan
