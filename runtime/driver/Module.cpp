#include "runtime/driver/Module.h"

#include "runtime/driver/Scopes.h"

namespace fw::driver {
namespace {

/// asError() for code: what does not fit the device has remedies of its own.
Error loadError(const Driver &driver, CUresult result, std::string what) {
  Error error = asError(driver, result, std::move(what));
  if (result == Cu::NO_BINARY_FOR_GPU || result == Cu::INVALID_IMAGE)
    error.remedy = "compile the request for this device (fw_request_target with \"cuda:N\")";
  else if (result == Cu::UNSUPPORTED_PTX_VERSION)
    error.remedy = "update the NVIDIA driver, or install an NVRTC as old as the driver";
  return error;
}

} // namespace

Module::~Module() {
  for (const Loaded *link = loaded; link;)
    delete std::exchange(link, link->next);
  // At the end of the process the driver may be gone before us; it says so and we are done.
  if (library && driver->checkFork())
    driver->cu().libraryUnload(library);
}

CUfunction Module::find(const Driver &from, int ordinal) const {
  ContextId context = 0;
  if (from.cu().ctxGetId(nullptr, &context) != Cu::SUCCESS)
    return nullptr;
  const Loaded *known = find(context);
  return known && known->device == ordinal ? known->function : nullptr;
}

const Module::Loaded *Module::find(ContextId context) const {
  for (const Loaded *link = loaded.load(std::memory_order_acquire); link; link = link->next)
    if (link->context == context)
      return link;
  return nullptr;
}

Result<void> Module::loadLibrary(const Driver &from) {
  driver = &from;
  char log[4096] = "";
  const int options[] = {Jit::ERROR_LOG_BUFFER, Jit::ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUresult result =
      from.cu().libraryLoadData(&library, image.data(), options, values, 2, nullptr, nullptr, 0);
  if (result != Cu::SUCCESS) {
    library = nullptr;
    Error error = loadError(from, result, "loading " + symbol);
    error.log = log;
    return error;
  }
  result = from.cu().libraryGetKernel(&kernel, library, symbol.c_str());
  if (result != Cu::SUCCESS) {
    from.cu().libraryUnload(std::exchange(library, nullptr));
    return asError(from, result, "finding " + symbol);
  }
  return {};
}

Result<CUfunction> Module::load(const Driver &from, std::atomic<uint64_t> &loads) {
  ContextId context = 0;
  CUdevice device = 0;
  CUresult result = from.cu().ctxGetId(nullptr, &context);
  if (result == Cu::SUCCESS)
    result = from.cu().ctxGetDevice(&device);
  if (result != Cu::SUCCESS)
    return asError(from, result, "asking for the current context");
  std::lock_guard lock(mutex);
  if (const Loaded *known = find(context))
    return known->function;
  RelaxedCapture relaxed(from);
  if (!library) {
    if (Result<void> made = loadLibrary(from); !made)
      return made.takeError();
    ++loads;
  }
  CUfunction function = nullptr;
  result = from.cu().kernelGetFunction(&function, kernel);
  // With lazy loading the code is only now brought to the device.
  int registers = 0;
  if (result == Cu::SUCCESS)
    result = from.cu().funcLoad
                 ? from.cu().funcLoad(function)
                 : from.cu().funcGetAttribute(&registers, Attribute::FUNCTION_REGISTERS, function);
  if (result != Cu::SUCCESS)
    return loadError(from, result, "loading " + symbol + " for the device");
  loaded.store(new Loaded{context, device, function, loaded.load(std::memory_order_relaxed)},
               std::memory_order_release);
  return function;
}

} // namespace fw::driver
