#include "compiler/jit/Jobs.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <sched.h>
#include <vector>

namespace fw::jit {
namespace {

TEST(Jobs, eachRunsOnceAndFinishedIsCalledOneAtATime) {
  for (unsigned threads : {0u, 1u, 3u, 100u}) {
    std::vector<std::atomic<int>> runs(50);
    std::vector<size_t> finished; // no lock: the contract
    runJobs(50, threads, [&](size_t i) { ++runs[i]; }, [&](size_t i) { finished.push_back(i); });
    for (const std::atomic<int> &count : runs)
      EXPECT_EQ(count, 1);
    std::sort(finished.begin(), finished.end());
    for (size_t i = 0; i < 50; ++i)
      EXPECT_EQ(finished.at(i), i);
  }
}

TEST(Jobs, noJobsAreNoError) {
  runJobs(0, 4, [](size_t) { FAIL(); });
}

TEST(Jobs, affinityBoundsTheThreads) {
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
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

} // namespace
} // namespace fw::jit
