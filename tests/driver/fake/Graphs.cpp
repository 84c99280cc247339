#include "tests/driver/fake/Queue.h"

#include <algorithm>

namespace fw::driver::fake {
namespace {

/// Whether every node of a capture comes before the end of its first stream.
bool areJoined(const Capture &capture) {
  std::vector<bool> isSeen(capture.nodes.size());
  std::vector<size_t> open = capture.origin->tail;
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (isSeen[node])
      continue;
    isSeen[node] = true;
    const auto &after = capture.nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return std::ranges::count(isSeen, false) == 0;
}

/// Takes all streams of a capture out of it.
void close(const std::shared_ptr<Capture> &capture, Context &context) {
  for (const auto &stream : context.streams)
    if (stream->capture == capture) {
      stream->capture.reset();
      stream->tail.clear();
    }
  capture->origin.reset();
  std::erase(world().captures, capture);
}

} // namespace

CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  FAKE_CALL(cuStreamBeginCapture_v2, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (mode < CaptureMode::GLOBAL || mode > CaptureMode::RELAXED)
    return Answer::INVALID_VALUE;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  if (stream->isLegacy)
    return Answer::STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture)
    return Answer::ILLEGAL_STATE;
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->origin = stream;
  world().captures.push_back(stream->capture);
  return Answer::SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  FAKE_CALL(cuStreamEndCapture, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (!graph)
    return Answer::INVALID_VALUE;
  *graph = nullptr;
  if (CUresult result = findStream(call, handle, stream))
    return result;
  const auto capture = stream->capture;
  if (!capture)
    return Answer::ILLEGAL_STATE;
  if (capture->origin != stream)
    return Answer::STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CaptureMode::RELAXED && capture->thread != std::this_thread::get_id())
    return Answer::STREAM_CAPTURE_WRONG_THREAD;
  const bool isComplete = areJoined(*capture);
  close(capture, *stream->context);
  if (capture->isInvalid)
    return Answer::STREAM_CAPTURE_INVALIDATED;
  if (!isComplete)
    return Answer::STREAM_CAPTURE_UNJOINED;
  auto made = std::make_shared<Graph>();
  made->context = stream->context;
  for (Node &node : capture->nodes)
    made->nodes.push_back(std::move(node.work));
  *graph = world().graphs.add(made);
  return Answer::SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_CALL(cuThreadExchangeStreamCaptureMode, INIT);
  if (!mode || *mode < CaptureMode::GLOBAL || *mode > CaptureMode::RELAXED)
    return Answer::INVALID_VALUE;
  std::swap(*mode, Thread::get().captureMode);
  return Answer::SUCCESS;
}

/// Nodes have no handles here: they are counted alone.
CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
  FAKE_CALL(cuGraphGetNodes, INIT);
  const auto graph = world().graphs.find(handle);
  if (!graph || !count)
    return Answer::INVALID_VALUE;
  if (nodes)
    return Answer::NOT_SUPPORTED;
  *count = graph->nodes.size();
  return Answer::SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph handle, unsigned long long flags) {
  FAKE_CALL(cuGraphInstantiateWithFlags, CONTEXT);
  const auto graph = world().graphs.find(handle);
  if (!exec || !graph || flags)
    return Answer::INVALID_VALUE;
  auto made = std::make_shared<GraphExec>();
  made->context = graph->context;
  made->nodes = graph->nodes;
  *exec = world().execs.add(made);
  return Answer::SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  FAKE_CALL(cuGraphLaunch, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findOwnStream(call, streamHandle, stream))
    return result;
  const auto exec = world().execs.find(handle);
  if (!exec || exec->context != stream->context)
    return Answer::INVALID_VALUE;
  if (stream->isLegacy)
    if (CUresult result = breakByLegacyUse(*stream->context))
      return result;
  for (const Work &work : exec->nodes) {
    if (stream->capture) {
      if (CUresult result = submit(call, stream, work))
        return result;
      continue;
    }
    State::get().counts.launches += work.kind == Work::Kind::KERNEL;
    std::vector<std::shared_ptr<Op>> after;
    if (exec->last)
      after.push_back(exec->last);
    exec->last = enqueue(call.lock, stream, work, std::move(after));
  }
  return Answer::SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  FAKE_CALL(cuGraphExecDestroy, INIT);
  return world().execs.take(exec) ? Answer::SUCCESS : Answer::INVALID_VALUE;
}

CUresult cuGraphDestroy(CUgraph graph) {
  FAKE_CALL(cuGraphDestroy, INIT);
  return world().graphs.take(graph) ? Answer::SUCCESS : Answer::INVALID_VALUE;
}

} // namespace fw::driver::fake
