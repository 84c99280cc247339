#include "compiler/jit/Jobs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace fw::jit {
namespace {

/// CPUs that a cgroup's quota amounts to, or `all`.
unsigned cgroupThreads(unsigned all) {
  double quota = 0, period = 0;
  std::ifstream file("/sys/fs/cgroup/cpu.max"); // "max 100000" where there is no quota
  if (file >> quota >> period && quota > 0 && period > 0)
    return unsigned(std::clamp(std::ceil(quota / period), 1.0, double(all)));
  return all;
}

} // namespace

void runJobs(size_t count, unsigned threads, const std::function<void(size_t)> &job,
             const std::function<void(size_t)> &finished) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      job(i);
      if (finished) {
        std::lock_guard guard(mutex);
        finished(i);
      }
    }
  };
  std::vector<std::thread> workers;
  size_t wanted = std::min<size_t>(threads ? threads : usableThreads(), count);
  for (size_t i = 1; i < wanted; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
}

unsigned usableThreads() {
  unsigned all = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    all = unsigned(std::max(1, CPU_COUNT(&set)));
  return cgroupThreads(all);
}

} // namespace fw::jit
