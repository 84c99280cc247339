// The kernel that computes scalar programs on the device, for inputs that the host does not know
// when it launches.
#pragma once

#include "templates/scalars/interpreter.cuh"
#include "templates/vocab/scalar_program.h"
#include "templates/vocab/shared.h"

namespace fw {

struct ScalarValues {
  alignas(16) double values[ScalarsLaunch::VALUES];
};

/// It knows all operations, so one compile serves every op.
struct AllOperations {
  static FW_INLINE double scalar(ScalarCode code, double a, double b, double c) {
    return evaluateScalar(code, a, b, c);
  }
};

} // namespace fw

extern "C" __global__ void __launch_bounds__(fw::ScalarsLaunch::THREADS)
    fw_scalars(const __grid_constant__ fw::ScalarsLaunch launch) {
  fw::runScalars<fw::AllOperations, fw::ScalarsLaunch::THREADS>(
      &launch, 1, fw::shared<fw::ScalarValues>().values, fw::ScalarsLaunch::VALUES);
}
