#include "tests/driver/fake/Memory.h"
#include "tests/driver/fake/Queue.h"

#include <algorithm>

namespace fw::driver::fake {
namespace {

std::shared_ptr<Context> make(CUdevice device, bool isPrimary) {
  auto context = std::make_shared<Context>();
  context->id = Handles::next();
  context->device = device;
  context->isPrimary = isPrimary;
  context->legacy = std::make_shared<Stream>();
  context->legacy->context = context.get();
  context->legacy->isLegacy = true;
  context->streams = {context->legacy};
  if (CUcontext gone = State::get().reusesContexts ? world().lastDestroyed : nullptr) {
    world().lastDestroyed = nullptr;
    world().forgotten.push_back(world().contexts.replace(gone, context));
  } else {
    world().contexts.add(context);
  }
  return context;
}

/// What is in a context goes with it; its handle stays known as one that is gone.
void destroy(Lock &lock, Context &context) {
  drain(lock, context);
  context.isAlive = false;
  const auto isMine = [&](const auto &object) { return object.context == &context; };
  world().streams.removeIf(isMine);
  world().events.removeIf(isMine);
  world().functions.removeIf([&](const LoadedFunction &function) {
    return function.context == &context && function.kernel->functions.erase(&context);
  });
  std::erase_if(world().perThread, [&](const auto &e) { return e.first.first == &context; });
  context.streams = {context.legacy};
  releaseAll(context);
}

CUresult create(CUcontext *context, CUdevice device) {
  if (!context)
    return Answer::INVALID_VALUE;
  if (device < 0 || size_t(device) >= world().devices.size())
    return Answer::INVALID_DEVICE;
  *context = make(device, false)->handle;
  Thread::get().contexts.push_back(*context);
  return Answer::SUCCESS;
}

/// The known context of a handle, whether alive or not.
Context *known(CUcontext handle) { return world().contexts.find(handle).get(); }

bool isCaptured(const Context &context) {
  return std::ranges::any_of(context.streams, [](const auto &s) { return bool(s->capture); });
}

} // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRetain, INIT);
  if (!context)
    return Answer::INVALID_VALUE;
  if (device < 0 || size_t(device) >= world().devices.size())
    return Answer::INVALID_DEVICE;
  Context *&primary = world().devices[size_t(device)].primary;
  if (!primary)
    primary = make(device, true).get();
  if (primary->retained++ == 0) {
    primary->isAlive = true;
    primary->id = Handles::next();
    primary->broken = 0;
  }
  *context = primary->handle;
  return Answer::SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRelease_v2, INIT);
  if (device < 0 || size_t(device) >= world().devices.size())
    return Answer::INVALID_DEVICE;
  Context *primary = world().devices[size_t(device)].primary;
  if (!primary || primary->retained == 0)
    return Answer::INVALID_CONTEXT;
  if (--primary->retained == 0)
    destroy(call.lock, *primary);
  return Answer::SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice device) {
  FAKE_CALL(cuCtxCreate_v2, INIT);
  return create(context, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, void *, unsigned, CUdevice device) {
  FAKE_CALL(cuCtxCreate_v4, INIT);
  return create(context, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  FAKE_CALL(cuCtxDestroy_v2, INIT);
  Context *context = known(handle);
  if (!context || !context->isAlive || context->isPrimary)
    return Answer::INVALID_CONTEXT;
  destroy(call.lock, *context);
  world().lastDestroyed = handle;
  auto &stack = Thread::get().contexts;
  if (!stack.empty() && stack.back() == handle)
    stack.pop_back();
  return Answer::SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  FAKE_CALL(cuCtxGetCurrent, INIT);
  if (!context)
    return Answer::INVALID_VALUE;
  *context = call.context ? call.context->handle : nullptr;
  return Answer::SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  FAKE_CALL(cuCtxGetDevice, INIT);
  if (!device)
    return Answer::INVALID_VALUE;
  if (!call.context)
    return Answer::INVALID_CONTEXT;
  *device = call.context->device;
  return Answer::SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
  FAKE_CALL(cuCtxGetId, INIT);
  if (!id)
    return Answer::INVALID_VALUE;
  const Context *context = handle ? known(handle) : call.context;
  if (!context)
    return Answer::INVALID_CONTEXT;
  if (!context->isAlive)
    return Answer::CONTEXT_IS_DESTROYED;
  *id = context->id;
  return Answer::SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  FAKE_CALL(cuCtxPushCurrent_v2, INIT);
  if (!known(context))
    return Answer::INVALID_CONTEXT;
  if (!known(context)->isAlive)
    return Answer::CONTEXT_IS_DESTROYED;
  Thread::get().contexts.push_back(context);
  return Answer::SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  FAKE_CALL(cuCtxPopCurrent_v2, INIT);
  auto &stack = Thread::get().contexts;
  if (stack.empty())
    return Answer::INVALID_CONTEXT;
  if (context)
    *context = stack.back();
  stack.pop_back();
  return Answer::SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_CALL(cuCtxSetCurrent, INIT);
  if (context && !known(context))
    return Answer::INVALID_CONTEXT;
  if (context && !known(context)->isAlive)
    return Answer::CONTEXT_IS_DESTROYED;
  auto &stack = Thread::get().contexts;
  if (!stack.empty())
    stack.pop_back();
  if (context)
    stack.push_back(context);
  return Answer::SUCCESS;
}

CUresult cuCtxSynchronize() {
  FAKE_CALL(cuCtxSynchronize, CONTEXT);
  if (isCaptured(*call.context)) {
    for (const auto &stream : call.context->streams)
      if (stream->capture)
        stream->capture->isInvalid = true;
    return Answer::STREAM_CAPTURE_UNSUPPORTED;
  }
  if (CUresult result = call.unsafe())
    return result;
  drain(call.lock, *call.context);
  return call.context->broken;
}

} // namespace fw::driver::fake
