// The GPU side of `doctor`: driver, devices, NVRTC.
#pragma once

#include "tools/cli/DoctorReport.h"

#include "compiler/jit/Nvrtc.h"
#include "runtime/driver/Driver.h"

namespace fw::cli {

/// What the machine has; `all` in the order in which NVRTC is looked for.
struct GpuSide {
  Result<const driver::Driver *> driver;
  Result<std::shared_ptr<const jit::Nvrtc>> nvrtc; ///< the one that is taken
  std::vector<std::shared_ptr<const jit::Nvrtc>> all;

  static GpuSide find(const jit::Settings &settings);
};

Finding examineDriver(const GpuSide &side);
Finding examineNvrtc(const GpuSide &side);

} // namespace fw::cli
