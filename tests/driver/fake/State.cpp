#include "tests/driver/fake/State.h"

#include <cstdlib>

namespace fw::driver::fake {
namespace {

std::string variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}

} // namespace

uintptr_t Handles::next() {
  static std::atomic<uintptr_t> last = 0x10000; // far from the named streams
  return last += 16;
}

Settings Settings::ofEnvironment() {
  return {.capabilities = variable("FAKE_CUDA_DEVICES", "9.0"),
          .kernels = variable("FAKE_CUDA_KERNELS", ""),
          .version = atoi(variable("FAKE_CUDA_VERSION", "13000").c_str()),
          .initResult = atoi(variable("FAKE_CUDA_INIT", "0").c_str()),
          .memoryBytes = strtoull(variable("FAKE_CUDA_MEMORY", "1073741824").c_str(), nullptr, 10)};
}

State &State::get() {
  static State &state = *new State; // outlives every destructor that still calls the driver
  return state;
}

Thread &Thread::get() {
  thread_local Thread thread;
  return thread;
}

CUresult soundness(const Context *context) {
  if (!context)
    return Answer::INVALID_CONTEXT;
  return context->isAlive ? context->broken : Answer::CONTEXT_IS_DESTROYED;
}

Call::Call(Function function, Need need) : lock(State::get().mutex) {
  ++State::get().calls[size_t(function)];
  refused = admit(function, need);
}

CUresult Call::admit(Function function, Need need) {
  State &state = State::get();
  Planned &failure = state.failures[size_t(function)];
  if (failure.isDue())
    return failure.result;
  const Thread &thread = Thread::get();
  if (thread.isInHostFunction)
    return Answer::NOT_PERMITTED;
  if (need != NOTHING && !state.world.isInitialized)
    return Answer::NOT_INITIALIZED;
  if (!thread.contexts.empty())
    context = state.world.contexts.find(thread.contexts.back()).get();
  return need == CONTEXT ? soundness(context) : Answer::SUCCESS;
}

CUresult Call::unsafe() {
  const int mode = Thread::get().captureMode;
  CUresult result = Answer::SUCCESS;
  if (mode == CaptureMode::RELAXED)
    return result;
  for (const auto &capture : world().captures) {
    const bool isMine = capture->thread == std::this_thread::get_id();
    if (isMine ? capture->mode != CaptureMode::RELAXED
               : mode == CaptureMode::GLOBAL && capture->mode == CaptureMode::GLOBAL) {
      capture->isInvalid = true;
      result = Answer::STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return result;
}

} // namespace fw::driver::fake
