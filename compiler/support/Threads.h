// Threads of CPU launches and of many compiles at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace fw {

/// Runs body(i) for all i < count on any threads and returns when all are done. Bodies do not
/// throw.
using Body = std::function<void(size_t index)>;
using ParallelFor = std::function<void(size_t count, const Body &body)>;

/// Threads that this process may use, at least 1: its affinity, capped by the CPU quota of its
/// cgroup.
unsigned usableThreads();

/// CPUs that a cgroup's `cpu.max` ("200000 100000", "max 100000") allows, rounded up; 0: no limit.
unsigned cpusOfQuota(const std::string &cpuMax);

/// Threads that start when work first needs them and live as long as the pool. The caller of
/// parallelFor works too: where the system refuses a thread, the work is done with those that are
/// there, or alone. A pool survives fork(): the child starts threads of its own.
class Threads {
public:
  /// 0: usableThreads().
  explicit Threads(unsigned count);
  ~Threads();

  unsigned count() const { return threads; }
  void parallelFor(size_t count, const Body &body);

private:
  class Pool;
  Pool *poolOfThisProcess();

  unsigned threads;
  std::atomic<Pool *> pool = nullptr;
};

} // namespace fw
