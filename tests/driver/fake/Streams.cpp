#include "tests/driver/fake/Queue.h"

namespace fw::driver::fake {
namespace {

/// Ends a capture by what is not allowed in it.
CUresult breakCapture(Stream &stream) {
  stream.capture->isInvalid = true;
  return Answer::STREAM_CAPTURE_UNSUPPORTED;
}

/// The error of waiting for `stream` or asking after it now.
CUresult waitable(Call &call, Stream &stream) {
  if (stream.isLegacy)
    if (CUresult result = breakByLegacyUse(*stream.context))
      return result;
  return stream.capture ? breakCapture(stream) : call.unsafe();
}

/// The last piece of every stream that waiting for `stream` waits for.
std::vector<std::shared_ptr<Op>> lastOf(const Stream &stream) {
  std::vector<std::shared_ptr<Op>> last;
  for (const auto &other : stream.context->streams)
    if ((other.get() == &stream || (stream.isLegacy && other->isBlocking)) && !other->queue.empty())
      last.push_back(other->queue.back());
  return last;
}

} // namespace

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  FAKE_CALL(cuStreamCreate, CONTEXT);
  if (!stream || flags > StreamFlag::NON_BLOCKING)
    return Answer::INVALID_VALUE;
  auto made = std::make_shared<Stream>();
  made->context = call.context;
  made->isBlocking = !(flags & StreamFlag::NON_BLOCKING);
  call.context->streams.push_back(made);
  *stream = world().streams.add(made);
  return Answer::SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  FAKE_CALL(cuStreamDestroy_v2, CONTEXT);
  const auto stream = world().streams.find(handle);
  if (!stream)
    return Answer::INVALID_HANDLE;
  if (stream->capture)
    return breakCapture(*stream);
  world().streams.take(handle);
  stream->isAlive = false;
  if (stream->queue.empty())
    std::erase(stream->context->streams, stream);
  return Answer::SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  FAKE_CALL(cuStreamSynchronize, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  if (CUresult result = waitable(call, *stream))
    return result;
  for (const auto &op : lastOf(*stream))
    finish(call.lock, op);
  return stream->context->broken;
}

/// Work goes on between two questions, so that a loop around this ends.
CUresult cuStreamQuery(CUstream handle) {
  FAKE_CALL(cuStreamQuery, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  if (CUresult result = waitable(call, *stream))
    return result;
  const auto last = lastOf(*stream);
  if (last.empty())
    return stream->context->broken;
  advance(call.lock, last.front());
  return stream->context->broken ? stream->context->broken : Answer::NOT_READY;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
  FAKE_CALL(cuStreamGetCtx, INIT);
  std::shared_ptr<Stream> stream;
  if (!context)
    return Answer::INVALID_VALUE;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  *context = stream->context->handle;
  return Answer::SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  FAKE_CALL(cuStreamIsCapturing, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (!status)
    return Answer::INVALID_VALUE;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  if (stream->isLegacy)
    if (CUresult result = legacyUse(*stream->context))
      return result;
  *status = !stream->capture             ? CaptureStatus::NONE
            : stream->capture->isInvalid ? CaptureStatus::INVALIDATED
                                         : CaptureStatus::ACTIVE;
  return Answer::SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  FAKE_CALL(cuLaunchHostFunc, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (!function)
    return Answer::INVALID_VALUE;
  if (CUresult result = findOwnStream(call, handle, stream))
    return result;
  return submit(call, stream, {.kind = Work::Kind::HOST, .run = [=] {
                                 function(data);
                                 return std::string();
                               }});
}

} // namespace fw::driver::fake
