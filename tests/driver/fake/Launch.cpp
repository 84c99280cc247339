#include "tests/driver/fake/Libraries.h"
#include "tests/driver/fake/Queue.h"

#include <cstring>

namespace fw::driver::fake {
namespace {

constexpr unsigned mostThreads = 1024, mostBlocks = 0x7FFFFFFF, mostSharedBytes = 48 << 10;
constexpr size_t oldParameterBytes = 4096, parameterBytes = 32764;
constexpr int versionOfLongParameters = 12010;

struct Shape {
  unsigned grid, threads; ///< blocks and threads of a block, in one dimension
};

CUresult complain(std::string text, CUresult result) {
  State::get().violations.push_back(std::move(text));
  return result;
}

/// The struct that a launch hands over, in either form.
CUresult gather(size_t bytes, void **parameters, void **extra, std::vector<std::byte> &into) {
  const void *from = nullptr;
  size_t size = bytes;
  if (parameters && extra)
    return Answer::INVALID_VALUE;
  if (parameters)
    from = parameters[0];
  for (void **word = extra; word && reinterpret_cast<uintptr_t>(*word) != LaunchWord::END;
       word += 2) {
    if (reinterpret_cast<uintptr_t>(*word) == LaunchWord::POINTER)
      from = word[1];
    else if (reinterpret_cast<uintptr_t>(*word) == LaunchWord::SIZE)
      size = *static_cast<const size_t *>(word[1]);
    else
      return Answer::INVALID_VALUE;
  }
  if (!from || size != bytes)
    return Answer::INVALID_VALUE;
  into.resize(bytes);
  memcpy(into.data(), from, bytes);
  return Answer::SUCCESS;
}

/// The twin's share of checking a launch.
CUresult checkTwin(const fake_cuda_kernel &twin, Shape shape) {
  const size_t most =
      State::get().settings.version < versionOfLongParameters ? oldParameterBytes : parameterBytes;
  if (twin.parameterBytes > most)
    return complain(std::string(twin.symbol) + " takes more bytes than this driver passes on",
                    Answer::INVALID_VALUE);
  if (shape.threads != twin.threads)
    return complain("expected " + std::to_string(twin.threads) + " threads for " + twin.symbol +
                        ", got " + std::to_string(shape.threads),
                    Answer::INVALID_VALUE);
  return Answer::SUCCESS;
}

Work launchOf(const fake_cuda_kernel &twin, Shape shape, std::vector<std::byte> bytes) {
  return {.kind = Work::Kind::KERNEL, .run = [=, bytes = std::move(bytes)] {
            const fake_cuda_launch launch{.parameters = bytes.data(),
                                          .grid = shape.grid,
                                          .threads = shape.threads,
                                          .seed = State::get().seed++};
            const char *fault = twin.run(twin.self, &launch);
            return fault ? std::string(twin.symbol) + ": " + fault : std::string();
          }};
}

/// A launch in work, or its error.
CUresult prepare(const LoadedFunction &function, Shape shape, void **parameters, void **extra,
                 Work &work) {
  State &state = State::get();
  const std::string &symbol = function.kernel->symbol;
  work.kind = Work::Kind::KERNEL;
  if (state.launchNothing)
    return Answer::SUCCESS;
  std::optional<fake_cuda_kernel> twin = function.kernel->twin;
  if (const auto known = state.twins.find(symbol); !twin && known != state.twins.end())
    twin = known->second;
  if (!twin)
    return complain("kernel " + symbol + " has no host twin; register one", Answer::NOT_FOUND);
  if (CUresult result = checkTwin(*twin, shape))
    return result;
  std::vector<std::byte> bytes;
  if (CUresult result = gather(twin->parameterBytes, parameters, extra, bytes))
    return result;
  work = launchOf(*twin, shape, std::move(bytes));
  return Answer::SUCCESS;
}

/// The function of a handle, which may be a kernel's as well.
CUresult findFunction(Call &call, CUfunction handle, std::shared_ptr<LoadedFunction> &function) {
  function = world().functions.find(handle);
  if (function)
    return function->context == call.context ? Answer::SUCCESS : Answer::INVALID_HANDLE;
  const auto kernel = world().kernels.find(reinterpret_cast<CUkernel>(handle));
  return kernel ? functionOf(call, kernel, function) : Answer::INVALID_HANDLE;
}

/// Queued or recorded; a launch that does nothing and is not recorded is counted alone.
CUresult accept(Call &call, const std::shared_ptr<Stream> &stream, Work work) {
  State &state = State::get();
  const bool runs = !stream->capture;
  if (work.run || stream->capture) {
    if (CUresult result = submit(call, stream, std::move(work)))
      return result;
  } else if (stream->isLegacy) {
    if (CUresult result = breakByLegacyUse(*stream->context))
      return result;
  }
  state.counts.launches += runs;
  if (state.launchFault.isDue())
    call.context->broken = state.launchFault.result;
  return Answer::SUCCESS;
}

CUresult launch(Call &call, CUfunction handle, const CUlaunchConfig &config, void **parameters,
                void **extra) {
  std::shared_ptr<LoadedFunction> function;
  std::shared_ptr<Stream> stream;
  if (CUresult result = findFunction(call, handle, function))
    return result;
  if (CUresult result = findOwnStream(call, config.stream, stream))
    return result;
  if (config.gridX == 0 || config.gridX > mostBlocks || config.gridY != 1 || config.gridZ != 1 ||
      config.blockX == 0 || config.blockX > mostThreads || config.blockY != 1 ||
      config.blockZ != 1 || config.sharedBytes > mostSharedBytes)
    return Answer::INVALID_VALUE;
  if (CUresult result = load(call, *function))
    return result;
  Work work;
  if (CUresult result = prepare(*function, {config.gridX, config.blockX}, parameters, extra, work))
    return result;
  work.function = std::move(function);
  return accept(call, stream, std::move(work));
}

} // namespace

CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
  FAKE_CALL(cuLaunchKernel, CONTEXT);
  const CUlaunchConfig config{gridX,  gridY,       gridZ,  blockX,  blockY,
                              blockZ, sharedBytes, stream, nullptr, 0};
  return launch(call, handle, config, parameters, extra);
}

/// Kernels run one behind the other: one that may begin before the kernel before it has ended need
/// not.
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction handle, void **parameters,
                          void **extra) {
  FAKE_CALL(cuLaunchKernelEx, CONTEXT);
  if (!config)
    return Answer::INVALID_VALUE;
  for (unsigned k = 0; k < config->attributeCount; ++k)
    if (config->attributes[k].id != LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION)
      return Answer::INVALID_VALUE;
  return launch(call, handle, *config, parameters, extra);
}

} // namespace fw::driver::fake
