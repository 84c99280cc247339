#include "runtime/launch/Threads.h"

#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace fw::launch {

unsigned cpusOfQuota(const std::string &cpuMax) {
  double quota = 0, period = 0;
  if (std::sscanf(cpuMax.c_str(), "%lf %lf", &quota, &period) != 2 || quota <= 0 || period <= 0)
    return 0;
  return unsigned(std::ceil(quota / period));
}

namespace {

std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The smallest quota of this process's cgroup (version 2) and the groups above it; 0: none.
unsigned cgroupCpus() {
  std::string group = firstLine("/proc/self/cgroup");
  if (!group.starts_with("0::"))
    return 0;
  group = group.substr(3);
  unsigned smallest = 0;
  for (;;) {
    unsigned cpus = cpusOfQuota(firstLine("/sys/fs/cgroup" + group + "/cpu.max"));
    if (cpus && (!smallest || cpus < smallest))
      smallest = cpus;
    size_t slash = group.rfind('/');
    if (slash == std::string::npos)
      return smallest;
    group.resize(slash);
  }
}

} // namespace

unsigned allowedThreads() {
  unsigned affinity = std::max(1u, llvm::hardware_concurrency().compute_thread_count());
  unsigned quota = cgroupCpus();
  return quota ? std::min(affinity, quota) : affinity;
}

struct Threads::Pool {
  explicit Pool(unsigned helpers) : helpers(llvm::hardware_concurrency(helpers)) {}
  pid_t process = getpid();
  llvm::DefaultThreadPool helpers;
};

Threads::Threads(unsigned count) : threads(count ? count : allowedThreads()) {}

Threads::~Threads() {
  // Joining threads of the parent process would wait for ever.
  if (pool && pool->process != getpid())
    pool.release();
}

Threads::Pool *Threads::poolOfThisProcess() {
  std::lock_guard lock(mutex);
  if (pool && pool->process != getpid())
    pool.release();
  if (!pool)
    pool = std::make_unique<Pool>(threads - 1);
  return pool.get();
}

void Threads::parallelFor(size_t count, const Body &body) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      body(i);
  };
  size_t helpers = std::min<size_t>(threads, count) - (count > 0);
  if (helpers == 0)
    return work();
  // Every thread takes from one counter, so whoever could be started does all of the work.
  llvm::ThreadPoolTaskGroup group(poolOfThisProcess()->helpers);
  try {
    for (size_t i = 0; i < helpers; ++i)
      group.async(work);
  } catch (const std::bad_alloc &) {
  }
  work();
  group.wait();
}

} // namespace fw::launch
