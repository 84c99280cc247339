// One-shot launches of a kernel.
#pragma once

#include "runtime/driver/Scopes.h"
#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceTable.h"

#include <optional>

namespace fw::plan {

/// A kernel on a stream, whose context need not be the current one. The driver refuses a function
/// on a stream of another context, so whose the stream is, a call of the driver, is asked only
/// then.
class KernelOnStream {
public:
  KernelOnStream(const DeviceWorld &world, const CudaKernel &kernel, driver::CUstream stream)
      : world(world), kernel(kernel), stream(stream) {}

  Result<void> launch(unsigned blocks, void **parameters);

private:
  driver::CUresult queue(unsigned blocks, void **parameters) const;
  /// The function in the stream's context, which is made current.
  Result<driver::CUfunction> ofStream();

  const DeviceWorld &world;
  const CudaKernel &kernel;
  driver::CUstream stream;
  driver::CUfunction function = nullptr;
  bool isAccepted = false; ///< the function is of the stream's context
  std::optional<driver::CurrentContext> current;
};

} // namespace fw::plan
