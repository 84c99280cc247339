// The pool does all work once, alone if it must, and in a child of fork() too.
#include "runtime/launch/Threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fw::launch;

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
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

TEST(Threads, childOfForkHasThreadsOfItsOwn) {
#if defined(THREAD_SANITIZER)
  GTEST_SKIP() << "ThreadSanitizer forbids new threads after fork()";
#endif
  Threads threads(3);
  expectEachOnce(threads, 100);
  pid_t child = fork();
  if (child == 0) {
    std::atomic<int> sum = 0;
    threads.parallelFor(100, [&](size_t) { ++sum; });
    _exit(sum == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Threads, quotaOfACgroup) {
  EXPECT_EQ(cpusOfQuota("max 100000"), 0u);
  EXPECT_EQ(cpusOfQuota("200000 100000"), 2u);
  EXPECT_EQ(cpusOfQuota("150000 100000"), 2u);
  EXPECT_EQ(cpusOfQuota("50000 100000"), 1u);
  EXPECT_EQ(cpusOfQuota(""), 0u);
  EXPECT_GE(allowedThreads(), 1u);
}

} // namespace
