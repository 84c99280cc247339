#include "tools/bench/CudaQueue.h"

#include "compiler/jit/Knobs.h"

#include <dlfcn.h>

namespace fw::bench {

using driver::check;

namespace {

Result<const driver::Driver *> openDriver() {
  Result<jit::Settings> settings = jit::Settings::read();
  if (!settings)
    return settings.takeError();
  return driver::Driver::open(settings->text(jit::Knob::cuda_driver));
}

} // namespace

Result<std::unique_ptr<CudaQueue>> CudaQueue::create(int device) {
  Result<const driver::Driver *> driver = openDriver();
  if (!driver)
    return driver.takeError();
  Result<driver::CurrentContext> context = driver::CurrentContext::ofDevice(**driver, device);
  if (!context)
    return context.takeError();
  std::unique_ptr<CudaQueue> made(new CudaQueue(**driver, std::move(*context)));
  const driver::Symbols &cu = (*driver)->cu();
  driver::CUresult result = cu.streamCreate(&made->queue, driver::StreamFlag::NON_BLOCKING);
  for (driver::CUevent *event : {&made->start, &made->end})
    if (result == driver::Cu::SUCCESS)
      result = cu.eventCreate(event, 0);
  if (Result<void> ok = check(**driver, result, "making a stream with events"); !ok)
    return ok.takeError();
  return made;
}

CudaQueue::~CudaQueue() {
  if (start)
    cuda->cu().eventDestroy(start);
  if (end)
    cuda->cu().eventDestroy(end);
  if (queue)
    cuda->cu().streamDestroy(queue);
}

Result<void> CudaQueue::wait() {
  return check(*cuda, cuda->cu().streamSynchronize(queue), "waiting for the device");
}

Result<void> CudaQueue::copy(uint64_t to, uint64_t from, size_t bytes) {
  return check(*cuda, cuda->cu().memcpyDtoDAsync(to, from, bytes, queue), "copying on the device");
}

Result<double> CudaQueue::time(const Work &work) {
  Result<void> done = check(*cuda, cuda->cu().eventRecord(start, queue), "recording an event");
  if (done)
    done = work();
  if (done)
    done = check(*cuda, cuda->cu().eventRecord(end, queue), "recording an event");
  if (done)
    done = check(*cuda, cuda->cu().eventSynchronize(end), "waiting for an event");
  float milliseconds = 0;
  if (done)
    done = check(*cuda, cuda->cu().eventElapsedTime(&milliseconds, start, end), "reading events");
  if (!done)
    return done.takeError();
  return double(milliseconds) * 1e3;
}

Result<void> CudaGraph::resolve() {
  // The driver's own handle: it is open already.
  void *library = dlopen(queue.driver().path().c_str(), RTLD_NOW | RTLD_LOCAL);
  struct Row {
    const char *name;
    void **place;
  };
  const Row rows[] = {
#define FW_CUDA(member, symbol, arguments) {#symbol, reinterpret_cast<void **>(&cu.member)},
#include "tools/bench/symbols.def"
#undef FW_CUDA
  };
  for (const Row &row : rows)
    if (!library || !(*row.place = dlsym(library, row.name)))
      return Error{Code::DEVICE,
                   std::string("expected a CUDA driver with graphs, got one without ") + row.name,
                   "update the NVIDIA driver"};
  return {};
}

Result<void> CudaGraph::record(const Work &work) {
  constexpr int THREAD_LOCAL = 1;
  const driver::Driver &cuda = queue.driver();
  Result<void> done =
      check(cuda, cu.streamBeginCapture(queue.stream(), THREAD_LOCAL), "beginning a capture");
  if (!done)
    return done;
  done = work();
  Result<void> ended = check(cuda, cu.streamEndCapture(queue.stream(), &graph), "ending a capture");
  if (done)
    done = std::move(ended);
  if (done)
    done = check(cuda, cu.graphInstantiate(&executable, graph, 0), "making a graph");
  return done;
}

Result<std::unique_ptr<CudaGraph>> CudaGraph::capture(CudaQueue &queue, const Work &work) {
  std::unique_ptr<CudaGraph> made(new CudaGraph(queue));
  Result<void> done = made->resolve();
  if (done)
    done = made->record(work);
  if (!done)
    return done.takeError();
  return made;
}

CudaGraph::~CudaGraph() {
  if (executable)
    cu.graphExecDestroy(executable);
  if (graph)
    cu.graphDestroy(graph);
}

Result<void> CudaGraph::launch() {
  return check(queue.driver(), cu.graphLaunch(executable, queue.stream()), "launching a graph");
}

} // namespace fw::bench
