// One-shot launches of ops over rows on a CUDA device.
#pragma once

#include "runtime/launch/RowGrid.h"
#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceTable.h"

namespace fw::plan {

/// An entry on its way to a kernel.
struct RowsWork {
  const launch::RowEntry *entry;
  launch::RowGrid grid;
};

/// Queues entries that one kernel serves: in several launches where there are more than the
/// kernel's parameters hold. `bytes`: what all of them stream.
Result<void> launchRows(const DeviceWorld &world, const launch::Program &program,
                        const CudaKernel &kernel, std::span<const RowsWork> works,
                        const launch::ScalarRows &scalars, uint64_t bytes, driver::CUstream stream);

} // namespace fw::plan
