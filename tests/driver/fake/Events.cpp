#include "tests/driver/fake/Queue.h"

#include <algorithm>

namespace fw::driver::fake {
namespace {

/// The event of a handle, and the error of asking after it now.
CUresult findEvent(Call &call, CUevent handle, std::shared_ptr<Event> &event) {
  event = world().events.find(handle);
  if (!event)
    return Answer::INVALID_HANDLE;
  if (CUresult result = soundness(event->context))
    return result;
  if (const auto capture = event->capture.lock()) {
    capture->isInvalid = true;
    return Answer::CAPTURED_EVENT;
  }
  return call.unsafe();
}

/// `stream` comes behind what `event` saw of a capture, and is part of it from now on.
CUresult join(Stream &stream, const Event &event, const std::shared_ptr<Capture> &capture) {
  if (stream.isLegacy)
    return breakByLegacyUse(*stream.context) ? Answer::STREAM_CAPTURE_IMPLICIT
                                             : Answer::STREAM_CAPTURE_UNSUPPORTED;
  if (stream.capture && stream.capture != capture) {
    stream.capture->isInvalid = capture->isInvalid = true;
    return Answer::STREAM_CAPTURE_MERGE;
  }
  if (capture->isInvalid)
    return Answer::STREAM_CAPTURE_INVALIDATED;
  if (stream.context != capture->origin->context)
    return Answer::NOT_SUPPORTED; // graphs over several devices
  stream.capture = capture;
  for (size_t node : event.tail)
    if (std::ranges::find(stream.tail, node) == stream.tail.end())
      stream.tail.push_back(node);
  return Answer::SUCCESS;
}

} // namespace

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  FAKE_CALL(cuEventCreate, CONTEXT);
  if (!event || flags & ~(EventFlag::BLOCKING_SYNC | EventFlag::DISABLE_TIMING))
    return Answer::INVALID_VALUE;
  auto made = std::make_shared<Event>();
  made->context = call.context;
  made->hasTiming = !(flags & EventFlag::DISABLE_TIMING);
  *event = world().events.add(made);
  return Answer::SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  FAKE_CALL(cuEventDestroy_v2, CONTEXT);
  return world().events.take(handle) ? Answer::SUCCESS : Answer::INVALID_HANDLE;
}

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  FAKE_CALL(cuEventRecord, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findStream(call, streamHandle, stream))
    return result;
  const auto event = world().events.find(handle);
  if (!event || event->context != stream->context)
    return Answer::INVALID_HANDLE;
  if (stream->isLegacy)
    if (CUresult result = breakByLegacyUse(*stream->context))
      return result;
  if (stream->capture) {
    if (stream->capture->isInvalid)
      return Answer::STREAM_CAPTURE_INVALIDATED;
    event->capture = stream->capture;
    event->tail = stream->tail;
    return Answer::SUCCESS;
  }
  event->capture.reset();
  event->record = enqueue(call.lock, stream, {});
  return Answer::SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream streamHandle, CUevent handle, unsigned flags) {
  FAKE_CALL(cuStreamWaitEvent, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (flags)
    return Answer::INVALID_VALUE;
  if (CUresult result = findStream(call, streamHandle, stream))
    return result;
  const auto event = world().events.find(handle);
  if (!event)
    return Answer::INVALID_HANDLE;
  if (const auto capture = event->capture.lock())
    return join(*stream, *event, capture);
  if (stream->capture) {
    stream->capture->isInvalid = true;
    return Answer::STREAM_CAPTURE_ISOLATION;
  }
  if (stream->isLegacy)
    if (CUresult result = breakByLegacyUse(*stream->context))
      return result;
  if (event->record)
    enqueue(call.lock, stream, {}, {event->record});
  return Answer::SUCCESS;
}

CUresult cuEventSynchronize(CUevent handle) {
  FAKE_CALL(cuEventSynchronize, CONTEXT);
  std::shared_ptr<Event> event;
  if (CUresult result = findEvent(call, handle, event))
    return result;
  if (event->record)
    finish(call.lock, std::shared_ptr<Op>(event->record));
  return event->context->broken;
}

/// Work goes on between two questions, so that a loop around this ends.
CUresult cuEventQuery(CUevent handle) {
  FAKE_CALL(cuEventQuery, CONTEXT);
  std::shared_ptr<Event> event;
  if (CUresult result = findEvent(call, handle, event))
    return result;
  if (!event->record || event->record->state == Op::State::DONE)
    return event->context->broken;
  advance(call.lock, std::shared_ptr<Op>(event->record));
  return event->context->broken ? event->context->broken : Answer::NOT_READY;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  FAKE_CALL(cuEventElapsedTime, CONTEXT);
  std::shared_ptr<Event> start, end;
  if (!milliseconds)
    return Answer::INVALID_VALUE;
  if (CUresult result = findEvent(call, startHandle, start))
    return result;
  if (CUresult result = findEvent(call, endHandle, end))
    return result;
  if (!start->hasTiming || !end->hasTiming || !start->record || !end->record ||
      start->context != end->context)
    return Answer::INVALID_HANDLE;
  if (start->record->state != Op::State::DONE || end->record->state != Op::State::DONE)
    return Answer::NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->record->end - start->record->end).count();
  return Answer::SUCCESS;
}

} // namespace fw::driver::fake
