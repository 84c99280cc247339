// The pool does all work once: alone where the system has no threads, and in a child of fork() too.
#include "compiler/support/Threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fw;

namespace {

void expectEachOnce(Threads &threads, size_t count) {
  std::vector<std::atomic<int>> done(count);
  threads.parallelFor(count, [&](size_t i) { ++done[i]; });
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(done[i], 1) << i;
}

TEST(Threads, eachIndexOnce) {
  for (unsigned size : {1u, 2u, 7u}) {
    Threads threads(size);
    for (size_t count : {0, 1, 2, 1000})
      expectEachOnce(threads, count);
  }
}

TEST(Threads, manyCallersShareAPool) {
  Threads threads(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        expectEachOnce(threads, 100);
    });
  for (std::thread &caller : callers)
    caller.join();
}

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif

/// True when `body` ends in a child and says that it was right.
template <class Run> bool rightInChild(Run body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

bool doesAllWork(Threads &threads) {
  std::atomic<int> sum = 0;
  threads.parallelFor(100, [&](size_t) { ++sum; });
  return sum == 100;
}

TEST(Threads, childOfForkHasThreadsOfItsOwn) {
#if defined(THREAD_SANITIZER)
  GTEST_SKIP() << "ThreadSanitizer forbids new threads after fork()";
#endif
  Threads threads(3);
  expectEachOnce(threads, 100);
  EXPECT_TRUE(rightInChild([&] { return doesAllWork(threads); }));
}

/// Limits the address space and fills it with sleeping threads, until the system refuses one.
void takeAllThreads() {
  long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  rlim_t room = rlim_t(1) << 20; // less than a stack
  rlim_t bytes = rlim_t(pages) * rlim_t(sysconf(_SC_PAGESIZE)) + room;
  const rlimit limit = {bytes, bytes};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0)
    _exit(2);
  try {
    for (int kept = 0; kept < 100; ++kept) // the C library keeps stacks of threads that ended
      std::thread([] { pause(); }).detach();
    _exit(3);
  } catch (const std::system_error &) {
  }
}

TEST(Threads, withoutAnyTheCallerDoesTheWork) {
#if defined(THREAD_SANITIZER) || defined(ADDRESS_SANITIZER)
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  EXPECT_TRUE(rightInChild([] {
    Threads threads(8);
    takeAllThreads();
    return doesAllWork(threads) && doesAllWork(threads);
  }));
}

TEST(Threads, thoseThatAreThereGoOnWhenNoMoreCanStart) {
#if defined(THREAD_SANITIZER) || defined(ADDRESS_SANITIZER)
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  EXPECT_TRUE(rightInChild([] {
    Threads threads(8);
    std::atomic<int> both = 0; // ends when two threads are in it at once
    auto meet = [&](size_t) {
      for (++both; both < 2;)
        std::this_thread::yield();
    };
    threads.parallelFor(2, meet);
    takeAllThreads();
    both = 0;
    threads.parallelFor(2, meet);
    return doesAllWork(threads);
  }));
}

TEST(Threads, affinityBoundsThem) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usableThreads(), 1u);
  EXPECT_LE(usableThreads(), unsigned(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usableThreads(), 1u);
  EXPECT_EQ(Threads(0).count(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Threads, quotaOfACgroup) {
  EXPECT_EQ(cpusOfQuota("max 100000"), 0u);
  EXPECT_EQ(cpusOfQuota("200000 100000"), 2u);
  EXPECT_EQ(cpusOfQuota("150000 100000"), 2u);
  EXPECT_EQ(cpusOfQuota("50000 100000"), 1u);
  EXPECT_EQ(cpusOfQuota(""), 0u);
}

} // namespace
