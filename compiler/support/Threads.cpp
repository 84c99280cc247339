#include "compiler/support/Threads.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <new>
#include <sched.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fw {

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

unsigned affinityCpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return unsigned(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

unsigned usableThreads() {
  unsigned affinity = affinityCpus(), quota = cgroupCpus();
  return quota ? std::min(affinity, quota) : affinity;
}

/// Helpers of one process, and the calls of parallelFor that want some.
class Threads::Pool {
public:
  /// One call of parallelFor, on its caller's stack: asking for help needs no memory.
  struct Call {
    const Body &body;
    size_t count;
    size_t wanted;                 ///< helpers that may still join
    size_t running = 0;            ///< helpers that have joined and are not done
    std::atomic<size_t> taken = 0; ///< by whoever works here, so those that are there do it all
    Call *next = nullptr;
    std::condition_variable done;

    void work() {
      for (size_t i = taken++; i < count; i = taken++)
        body(i);
    }
  };

  ~Pool() {
    {
      std::lock_guard lock(mutex);
      ending = true;
    }
    called.notify_all();
    for (std::thread &helper : helpers)
      helper.join();
  }

  void run(Call &call) {
    ask(call);
    call.work();
    std::unique_lock lock(mutex);
    remove(call);
    call.done.wait(lock, [&] { return call.running == 0; });
  }

  const pid_t process = getpid();

private:
  void ask(Call &call) {
    {
      std::lock_guard lock(mutex);
      startHelpers(call.wanted);
      call.next = first;
      first = &call;
    }
    called.notify_all();
  }

  /// As many as the system gives. One refusal is enough: the next would be refused too, and asking
  /// for it in every launch would cost more than it brings.
  void startHelpers(size_t wanted) {
    try {
      while (helpers.size() < wanted && !refused)
        helpers.emplace_back([this] { help(); });
    } catch (const std::system_error &) {
      refused = true;
    } catch (const std::bad_alloc &) {
      refused = true;
    }
  }

  void help() {
    std::unique_lock lock(mutex);
    for (;;) {
      called.wait(lock, [&] { return first || ending; });
      if (!first)
        return;
      Call &call = *first;
      ++call.running;
      if (--call.wanted == 0)
        remove(call);
      lock.unlock();
      call.work();
      lock.lock();
      // The caller may have no work left either, so nobody else needs to join.
      remove(call);
      if (--call.running == 0)
        call.done.notify_one();
    }
  }

  void remove(Call &call) {
    for (Call **place = &first; *place; place = &(*place)->next)
      if (*place == &call) {
        *place = call.next;
        return;
      }
  }

  std::mutex mutex;
  std::condition_variable called;
  Call *first = nullptr; ///< calls that want helpers
  bool ending = false;
  bool refused = false;
  std::vector<std::thread> helpers;
};

Threads::Threads(unsigned count) : threads(count ? count : usableThreads()) {}

Threads::~Threads() {
  // A parent's threads are not in this process: joining them would wait for ever.
  if (Pool *known = pool; known && known->process == getpid())
    delete known;
}

/// Without a lock, which another thread might have held when the process forked. A parent's pool is
/// left alone: its locks and threads are those of another process. Null: no memory.
Threads::Pool *Threads::poolOfThisProcess() {
  Pool *known = pool;
  while (!known || known->process != getpid()) {
    std::unique_ptr<Pool> fresh(new (std::nothrow) Pool);
    if (!fresh || pool.compare_exchange_strong(known, fresh.get()))
      return fresh.release();
  }
  return known;
}

void Threads::parallelFor(size_t count, const Body &body) {
  size_t helpers = std::min<size_t>(threads, count) - (count > 0);
  Pool::Call call{.body = body, .count = count, .wanted = helpers};
  Pool *others = helpers > 0 ? poolOfThisProcess() : nullptr;
  if (others)
    others->run(call);
  else
    call.work();
}

} // namespace fw
