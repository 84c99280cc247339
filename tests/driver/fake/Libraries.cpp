#include "tests/driver/fake/Libraries.h"

#include <algorithm>
#include <cstring>

namespace fw::driver::fake {
namespace {

/// What nvcc gives kernels of ours, roughly; nobody reads more than its being there.
constexpr int registersOfAKernel = 32;

/// Hands `text` to the caller's buffer for errors of a compilation.
void writeLog(const std::string &text, const int *options, void **values, unsigned count) {
  char *buffer = nullptr;
  void **size = nullptr;
  for (unsigned k = 0; k < count; ++k) {
    if (options[k] == Jit::ERROR_LOG_BUFFER)
      buffer = static_cast<char *>(values[k]);
    else if (options[k] == Jit::ERROR_LOG_BUFFER_SIZE_BYTES)
      size = &values[k];
  }
  if (!buffer || !size || !*size)
    return;
  const size_t bytes = std::min(text.size(), reinterpret_cast<size_t>(*size) - 1);
  memcpy(buffer, text.data(), bytes);
  buffer[bytes] = 0;
  *size = reinterpret_cast<void *>(bytes);
}

bool isPending(const Library &library) {
  return world().contexts.any([&](const Context &context) {
    return std::ranges::any_of(context.streams, [&](const auto &stream) {
      return std::ranges::any_of(stream->queue, [&](const auto &op) {
        return op->work.function && op->work.function->kernel->library.get() == &library;
      });
    });
  });
}

} // namespace

CUresult load(Call &call, LoadedFunction &function) {
  if (function.isLoaded)
    return Answer::SUCCESS;
  if (CUresult result = call.unsafe())
    return result;
  function.isLoaded = true;
  ++State::get().counts.kernelLoads;
  return Answer::SUCCESS;
}

CUresult functionOf(Call &call, const std::shared_ptr<Kernel> &kernel,
                    std::shared_ptr<LoadedFunction> &function) {
  const int capability = world().devices[size_t(call.context->device)].capability;
  if (!kernel->library->image.runsOn(capability))
    return Answer::NO_BINARY_FOR_GPU;
  CUfunction &handle = kernel->functions[call.context];
  function = world().functions.find(handle);
  if (!function) {
    function = std::make_shared<LoadedFunction>();
    function->kernel = kernel;
    function->context = call.context;
    handle = world().functions.add(function);
  }
  return Answer::SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, const int *jitOptions,
                           void **jitValues, unsigned jitCount, const int *, void **, unsigned) {
  FAKE_CALL(cuLibraryLoadData, INIT);
  if (!library || !code)
    return Answer::INVALID_VALUE;
  if (CUresult result = call.unsafe())
    return result;
  auto made = std::make_shared<Library>();
  std::string log;
  CUresult result = readImage(code, State::get().settings.version, made->image, log);
  const auto runs = [&](const Device &d) { return made->image.runsOn(d.capability); };
  if (!result && std::ranges::none_of(world().devices, runs))
    result = made->image.isText ? Answer::INVALID_PTX : Answer::NO_BINARY_FOR_GPU;
  if (result) {
    writeLog(log, jitOptions, jitValues, jitCount);
    return result;
  }
  fake_cuda_counts &counts = State::get().counts;
  ++(made->image.isText ? counts.jitLoads : counts.libraryLoads);
  *library = world().libraries.add(made);
  return Answer::SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  FAKE_CALL(cuLibraryUnload, INIT);
  const auto library = world().libraries.find(handle);
  if (!library)
    return Answer::INVALID_HANDLE;
  if (CUresult result = call.unsafe())
    return result;
  if (isPending(*library))
    State::get().violations.push_back("a library is unloaded while launches of it are pending");
  library->isAlive = false;
  world().libraries.take(handle);
  world().kernels.removeIf([&](const Kernel &kernel) { return kernel.library == library; });
  world().functions.removeIf(
      [&](const LoadedFunction &function) { return function.kernel->library == library; });
  return Answer::SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name) {
  FAKE_CALL(cuLibraryGetKernel, INIT);
  if (!kernel || !name)
    return Answer::INVALID_VALUE;
  const auto library = world().libraries.find(handle);
  if (!library)
    return Answer::INVALID_HANDLE;
  if (!library->image.kernels.contains(name))
    return Answer::NOT_FOUND;
  auto made = std::make_shared<Kernel>();
  made->symbol = name;
  if (const auto twin = State::get().twins.find(name); twin != State::get().twins.end())
    made->twin = twin->second;
  made->library = library;
  *kernel = world().kernels.add(made);
  return Answer::SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel handle) {
  FAKE_CALL(cuKernelGetFunction, CONTEXT);
  const auto kernel = world().kernels.find(handle);
  if (!function || !kernel)
    return function ? Answer::INVALID_HANDLE : Answer::INVALID_VALUE;
  std::shared_ptr<LoadedFunction> found;
  if (CUresult result = functionOf(call, kernel, found))
    return result;
  *function = found->handle;
  return Answer::SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
  FAKE_CALL(cuFuncLoad, CONTEXT);
  const auto function = world().functions.find(handle);
  return function ? load(call, *function) : Answer::INVALID_HANDLE;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction handle) {
  FAKE_CALL(cuFuncGetAttribute, CONTEXT);
  const auto function = world().functions.find(handle);
  if (!value || attribute != Attribute::FUNCTION_REGISTERS)
    return Answer::INVALID_VALUE;
  if (!function)
    return Answer::INVALID_HANDLE;
  if (CUresult result = load(call, *function))
    return result;
  *value = registersOfAKernel;
  return Answer::SUCCESS;
}

} // namespace fw::driver::fake
