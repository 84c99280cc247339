#include "compiler/Stages.h"

#include <gtest/gtest.h>

namespace fw {
namespace {

/// Kernels with these spills, whose keys begin with `name`.
jit::ProgramRecord recordOf(const std::string &name, std::initializer_list<int> spills) {
  jit::ProgramRecord record;
  for (int bytes : spills) {
    record.kernels.push_back({.launch = {}, .key = name + std::to_string(record.kernels.size())});
    record.kernels.back().launch.spillBytes = bytes;
  }
  return record;
}

TEST(Candidates, EachKernelOfAProgramIsPickedByItself) {
  const jit::ProgramRecord picked =
      withFewerSpills(recordOf("first", {8, 0, 4, -1}), recordOf("second", {0, 0, 4, -1}));
  std::vector<std::string> keys;
  for (const jit::KernelRecord &kernel : picked.kernels)
    keys.push_back(kernel.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"second0", "first1", "first2", "first3"}));
}

TEST(Candidates, ThereIsASecondWhereAKernelSpillsAndTheRequestLeavesItOpen) {
  ResolvedRequest request;
  EXPECT_FALSE(secondCandidate(request, recordOf("first", {0, -1})));
  const auto second = secondCandidate(request, recordOf("first", {0, 8}));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->request.schedule.at("blocks_per_sm"), 1);
  EXPECT_FALSE(secondCandidate(*second, recordOf("first", {0, 8})));
  jit::ProgramRecord stacked = recordOf("first", {0});
  stacked.kernels[0].launch.stackBytes = 8;
  EXPECT_TRUE(secondCandidate(request, stacked));
  EXPECT_EQ(withFewerSpills(stacked, recordOf("second", {0})).kernels[0].key, "second0");
}

} // namespace
} // namespace fw
