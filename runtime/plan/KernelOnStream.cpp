#include "runtime/plan/KernelOnStream.h"

namespace fw::plan {

Result<void> KernelOnStream::launch(unsigned blocks, void **parameters) {
  if (!isAccepted)
    function = kernel.module.find(*world.driver, world.device);
  driver::CUresult result = function ? queue(blocks, parameters) : driver::Cu::INVALID_HANDLE;
  if (result != driver::Cu::SUCCESS && !isAccepted) {
    auto other = ofStream();
    if (!other)
      return other.takeError();
    if (function != *other) {
      function = *other;
      result = queue(blocks, parameters);
    }
  }
  isAccepted = true;
  ++*world.launches;
  return driver::check(*world.driver, result, "launching a kernel");
}

driver::CUresult KernelOnStream::queue(unsigned blocks, void **parameters) const {
  return world.driver->cu().launchKernel(function, blocks, 1, 1, kernel.threads, 1, 1,
                                         kernel.sharedBytes, stream, parameters, nullptr);
}

Result<driver::CUfunction> KernelOnStream::ofStream() {
  auto entered = driver::CurrentContext::ofStream(*world.driver, stream, world.device);
  if (!entered)
    return entered.takeError();
  current.emplace(std::move(*entered));
  if (driver::CUfunction known = kernel.module.find(*world.driver, world.device))
    return known;
  Result<bool> capturing = driver::isCapturing(*world.driver, stream);
  if (!capturing)
    return capturing.takeError();
  if (*capturing)
    return Error{Code::USAGE,
                 "expected a program that is loaded on device " + std::to_string(world.device) +
                     " before its first launch is captured, got one that is not",
                 "warm up first: call fw_preload or launch it once before the capture"};
  return kernel.module.load(*world.driver, *world.modules);
}

} // namespace fw::plan
