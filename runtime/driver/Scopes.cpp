#include "runtime/driver/Scopes.h"

namespace fw::driver {

Result<CurrentContext> CurrentContext::ofDevice(const Driver &driver, int ordinal) {
  CUcontext current = nullptr;
  CUdevice device = 0;
  if (driver.cu().ctxGetCurrent(&current) == Cu::SUCCESS && current &&
      driver.cu().ctxGetDevice(&device) == Cu::SUCCESS && device == ordinal)
    return CurrentContext(driver, current, false);
  Result<CUcontext> primary = driver.primaryContext(ordinal);
  if (!primary)
    return primary.takeError();
  return enter(driver, *primary);
}

Result<CurrentContext> CurrentContext::ofStream(const Driver &driver, CUstream stream,
                                                int ordinal) {
  CUcontext owner = nullptr;
  if (!stream || driver.cu().streamGetCtx(stream, &owner) != Cu::SUCCESS || !owner)
    return ofDevice(driver, ordinal);
  Result<CurrentContext> entered = enter(driver, owner);
  if (!entered)
    return entered;
  CUdevice device = 0;
  if (CUresult result = driver.cu().ctxGetDevice(&device); result != Cu::SUCCESS)
    return asError(driver, result, "asking for the device of a stream");
  if (device != ordinal)
    return Error{Code::DEVICE,
                 "expected a stream of CUDA device " + std::to_string(ordinal) +
                     ", got one of device " + std::to_string(device),
                 "pass a stream of the tensors' device"};
  return entered;
}

Result<CurrentContext> CurrentContext::enter(const Driver &driver, CUcontext context) {
  CUcontext current = nullptr;
  if (driver.cu().ctxGetCurrent(&current) == Cu::SUCCESS && current == context)
    return CurrentContext(driver, context, false);
  if (CUresult result = driver.cu().ctxPushCurrent(context); result != Cu::SUCCESS)
    return asError(driver, result, "making a context current");
  return CurrentContext(driver, context, true);
}

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  if (pushed)
    driver.cu().ctxPopCurrent(&popped);
}

Result<bool> isCapturing(const Driver &driver, CUstream stream) {
  int status = Capture::NONE;
  if (!stream)
    return false;
  if (CUresult result = driver.cu().streamIsCapturing(stream, &status); result != Cu::SUCCESS)
    return asError(driver, result, "asking whether the stream is captured");
  return status != Capture::NONE;
}

} // namespace fw::driver
