// A stream of a CUDA device with the clock of its events.
#pragma once

#include "runtime/driver/Scopes.h"
#include "tools/bench/Machine.h"

namespace fw::bench {

using driver::CUstream;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

class CudaQueue {
public:
  /// In the device's primary context, which stays current.
  static Result<std::unique_ptr<CudaQueue>> create(int device);
  ~CudaQueue();
  CudaQueue(const CudaQueue &) = delete;

  const driver::Driver &driver() const { return *cuda; }
  driver::CUstream stream() const { return queue; }

  Result<void> wait();
  Result<void> copy(uint64_t to, uint64_t from, size_t bytes);
  /// Microseconds from the start of what `work` queues to its end, by the device's clock.
  Result<double> time(const Work &work);

private:
  CudaQueue(const driver::Driver &driver, driver::CurrentContext context)
      : cuda(&driver), context(std::move(context)) {}

  const driver::Driver *cuda;
  driver::CurrentContext context;
  driver::CUstream queue = nullptr;
  driver::CUevent start = nullptr, end = nullptr;
};

/// Work of a queue, captured once.
class CudaGraph {
public:
  static Result<std::unique_ptr<CudaGraph>> capture(CudaQueue &queue, const Work &work);
  ~CudaGraph();
  CudaGraph(const CudaGraph &) = delete;

  Result<void> launch();

private:
  struct Symbols {
#define FW_CUDA(member, symbol, arguments) driver::CUresult(*member) arguments = nullptr;
#include "tools/bench/symbols.def"
#undef FW_CUDA
  };
  explicit CudaGraph(CudaQueue &queue) : queue(queue) {}
  Result<void> resolve();
  Result<void> record(const Work &work);

  CudaQueue &queue;
  Symbols cu;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
};

} // namespace fw::bench
