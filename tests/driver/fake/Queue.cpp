#include "tests/driver/fake/Queue.h"

#include <algorithm>

namespace fw::driver::fake {
namespace {

/// A real driver makes the caller wait for room as well.
constexpr size_t longestQueue = 1024;

/// Which piece of work must run first for `op` to run; it may be running already.
std::shared_ptr<Op> firstNeeded(std::shared_ptr<Op> op) {
  for (;;) {
    const auto &front = op->stream->queue.front();
    const auto waits = [](const auto &other) { return other->state != Op::State::DONE; };
    if (front != op)
      op = front;
    else if (auto other = std::ranges::find_if(op->after, waits); other != op->after.end())
      op = std::shared_ptr<Op>(*other);
    else
      return op;
  }
}

/// What makes the work impossible: an empty text when nothing does.
std::string obstacle(const Work &work) {
  for (const auto &[address, bytes] : work.ranges) {
    auto next = world().allocations.upper_bound(address);
    if (next == world().allocations.begin() || !std::prev(next)->second->holds(address, bytes))
      return "a copy runs after its memory was freed";
  }
  if (work.function && !work.function->kernel->library->isAlive)
    return "kernel " + work.function->kernel->symbol + " runs after its library was unloaded";
  return {};
}

std::vector<std::shared_ptr<Allocation>> deviceMemory(const Context *context) {
  std::vector<std::shared_ptr<Allocation>> mine;
  for (const auto &[address, allocation] : world().allocations)
    if (allocation->context == context && !allocation->isOnHost)
      mine.push_back(allocation);
  return mine;
}

std::string execute(const Work &work, const std::vector<std::shared_ptr<Allocation>> &memory) {
  if (work.kind == Work::Kind::HOST) {
    Thread::get().isInHostFunction = true;
    std::string fault = work.run();
    Thread::get().isInHostFunction = false;
    return fault;
  }
  std::lock_guard engine(State::get().engine);
  for (const auto &allocation : memory)
    allocation->allow();
  std::string fault = work.run();
  for (const auto &allocation : memory)
    allocation->forbid();
  return fault;
}

/// Without the lock while it runs, so that a host function may wait for another thread.
void run(Lock &lock, const Work &work, Context &context) {
  CUresult result = Answer::ILLEGAL_ADDRESS;
  std::string fault = obstacle(work);
  if (fault.empty()) {
    const auto memory = deviceMemory(&context);
    lock.unlock();
    fault = execute(work, memory);
    lock.lock();
    result = Answer::LAUNCH_FAILED;
  }
  if (fault.empty())
    return;
  context.broken = result;
  State::get().violations.push_back(std::move(fault));
}

void perform(Lock &lock, const std::shared_ptr<Op> &op) {
  op->state = Op::State::RUNNING;
  Stream &stream = *op->stream;
  if (Context &context = *stream.context; op->work.run && !soundness(&context))
    run(lock, op->work, context);
  op->state = Op::State::DONE;
  op->end = std::chrono::steady_clock::now();
  op->after.clear();
  op->work = {};
  stream.queue.pop_front();
  if (!stream.isAlive && stream.queue.empty())
    std::erase(stream.context->streams, op->stream);
  State::get().changed.notify_all();
}

std::shared_ptr<Stream> ofThread(Context *context) {
  auto &stream = world().perThread[{context, std::this_thread::get_id()}];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->context = context;
    context->streams.push_back(stream);
  }
  return stream;
}

CUresult record(Capture &capture, Stream &stream, Work work) {
  if (capture.isInvalid)
    return Answer::STREAM_CAPTURE_INVALIDATED;
  capture.nodes.push_back({std::move(work), stream.tail});
  stream.tail = {capture.nodes.size() - 1};
  return Answer::SUCCESS;
}

} // namespace

CUresult findStream(const Call &call, CUstream handle, std::shared_ptr<Stream> &stream) {
  const bool isLegacy = !handle || handle == legacyStream();
  if (isLegacy || handle == perThreadStream()) {
    if (CUresult result = soundness(call.context))
      return result;
    stream = isLegacy ? call.context->legacy : ofThread(call.context);
    return Answer::SUCCESS;
  }
  stream = world().streams.find(handle);
  return stream ? soundness(stream->context) : Answer::INVALID_HANDLE;
}

CUresult findOwnStream(const Call &call, CUstream handle, std::shared_ptr<Stream> &stream) {
  if (CUresult result = findStream(call, handle, stream))
    return result;
  return stream->context == call.context ? Answer::SUCCESS : Answer::INVALID_HANDLE;
}

CUresult legacyUse(const Context &context) {
  const auto isInTheWay = [](const auto &stream) { return stream->isBlocking && stream->capture; };
  return std::ranges::any_of(context.streams, isInTheWay) ? Answer::STREAM_CAPTURE_IMPLICIT
                                                          : Answer::SUCCESS;
}

CUresult breakByLegacyUse(const Context &context) {
  for (const auto &stream : context.streams)
    if (stream->isBlocking && stream->capture)
      stream->capture->isInvalid = true;
  return legacyUse(context);
}

CUresult submit(Call &call, const std::shared_ptr<Stream> &stream, Work work) {
  if (stream->isLegacy)
    if (CUresult result = breakByLegacyUse(*stream->context))
      return result;
  if (stream->capture)
    return record(*stream->capture, *stream, std::move(work));
  enqueue(call.lock, stream, std::move(work));
  return Answer::SUCCESS;
}

std::shared_ptr<Op> enqueue(Lock &lock, const std::shared_ptr<Stream> &stream, Work work,
                            std::vector<std::shared_ptr<Op>> after) {
  auto op = std::make_shared<Op>();
  op->work = std::move(work);
  op->stream = stream;
  op->after = std::move(after);
  for (const auto &other : stream->context->streams)
    if (stream->isBlocking && other->isBlocking && stream->isLegacy != other->isLegacy &&
        !other->queue.empty())
      op->after.push_back(other->queue.back());
  stream->queue.push_back(op);
  while (stream->queue.size() > longestQueue)
    advance(lock, stream->queue.front());
  return op;
}

void advance(Lock &lock, const std::shared_ptr<Op> &op) {
  if (op->state == Op::State::DONE)
    return;
  if (auto next = firstNeeded(op); next->state == Op::State::QUEUED)
    perform(lock, next);
}

void finish(Lock &lock, const std::shared_ptr<Op> &op) {
  while (op->state != Op::State::DONE) {
    if (auto next = firstNeeded(op); next->state == Op::State::QUEUED)
      perform(lock, next);
    else
      State::get().changed.wait(lock);
  }
}

void drain(Lock &lock, const Stream &stream) {
  if (!stream.queue.empty())
    finish(lock, std::shared_ptr<Op>(stream.queue.back()));
}

void drain(Lock &lock, Context &context) {
  std::vector<std::shared_ptr<Op>> last;
  for (const auto &stream : context.streams)
    if (!stream->queue.empty())
      last.push_back(stream->queue.back());
  for (const auto &op : last)
    finish(lock, op);
}

} // namespace fw::driver::fake
