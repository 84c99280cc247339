#include "compiler/jit/Jobs.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
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

} // namespace
} // namespace fw::jit
