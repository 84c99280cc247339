// Plans and one-shot launches on a CUDA device.
#pragma once

#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceTable.h"
#include "runtime/plan/Plan.h"

namespace fw::plan {

/// Loads kernels and fills tables; `programs[i]` is that of groups[i], and groups that have the
/// same share launches. `isOnDevice`: of a hyper, that some group has it in device memory.
Result<std::unique_ptr<Plan>> makeCudaPlan(DeviceWorld world, std::vector<Group> groups,
                                           std::span<const CudaProgram *const> programs,
                                           const std::function<bool(size_t hyper)> &isOnDevice);

/// Queues a list without tables: several launches where it has more segments than parameters hold.
/// The context is the stream's, whatever `world` says; for the legacy default stream the current
/// one or the device's primary one.
Result<void> launchOnce(const DeviceWorld &world, const launch::Program &program,
                        const CudaKernel &kernel, const launch::TensorList &list,
                        const launch::ScalarRows &rows, driver::CUstream stream);

} // namespace fw::plan
