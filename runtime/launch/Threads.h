// The threads of CPU launches.
#pragma once

#include "compiler/support/Error.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace fw::launch {

/// Runs body(i) for all i < count on any threads and returns when all are done. Bodies do not
/// throw.
using Body = std::function<void(size_t index)>;
using ParallelFor = std::function<void(size_t count, const Body &body)>;

/// Threads that this process may use: its affinity, capped by the CPU quota of its cgroup.
unsigned allowedThreads();

/// CPUs that a cgroup's `cpu.max` ("200000 100000", "max 100000") allows, rounded up; 0: no limit.
unsigned cpusOfQuota(const std::string &cpuMax);

/// Threads that start at the first use and live as long as the pool. The caller of parallelFor
/// works too, and finishes the work alone where no thread can be had. A pool survives fork(): the
/// child starts threads of its own.
class Threads {
public:
  /// 0: allowedThreads().
  explicit Threads(unsigned count);
  ~Threads();

  unsigned count() const { return threads; }
  void parallelFor(size_t count, const Body &body);

private:
  struct Pool;
  Pool *poolOfThisProcess();

  unsigned threads;
  std::mutex mutex;
  std::unique_ptr<Pool> pool;
};

} // namespace fw::launch
