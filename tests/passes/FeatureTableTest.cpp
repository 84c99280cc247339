// Features without MLIR: what they add to an op's operands, and what is refused.
#include "compiler/passes/FeatureTable.h"

#include <gtest/gtest.h>

namespace fw::passes {
namespace {

using Names = std::vector<std::string>;

const std::vector<FeatureOperand> kSgd{{"p", "param"}, {"g", "grad"}, {"m", "state"}};

// Rows that exclude each other; the shipped table has none yet.
constexpr Feature kTable[] = {
    {.name = "copy",
     .kind = "output",
     .role = "param",
     .operand = "{0}.copy",
     .added = "out",
     .dtype = "bf16",
     .conflicts = "",
     .reason = "",
     .help = ""},
    {.name = "master",
     .kind = "codec",
     .role = "param",
     .operand = "{0}.master",
     .added = "state",
     .dtype = "f32",
     .conflicts = "split kahan",
     .reason = "both keep the low bits of a parameter",
     .help = ""},
    {.name = "split",
     .kind = "codec",
     .role = "param",
     .operand = "{0}.rest",
     .added = "state",
     .dtype = "f32",
     .conflicts = "master",
     .reason = "both keep the low bits of a parameter",
     .help = ""},
};

std::string refusal(std::span<const FeatureOperand> operands, const Names &names,
                    std::span<const Feature> table = allFeatures()) {
  auto added = addedOperands(operands, names, table);
  return added ? "accepted" : render(added.error());
}

TEST(Features, CopyAddsOneOutputPerParameter) {
  auto added = addedOperands(kSgd, Names{"copy"});
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, (std::vector<AddedOperand>{{"p.copy", "out", "bf16"}}));
  EXPECT_EQ(addedOperands(kSgd, Names{})->size(), 0u);
}

TEST(Features, AddInTheOrderOfTheTableAndOfTheOperands) {
  std::vector<FeatureOperand> operands{{"q", "param"}, {"p", "param"}};
  auto added = addedOperands(operands, Names{"split", "copy"}, kTable);
  ASSERT_TRUE(added);
  std::vector<AddedOperand> expected{{"q.copy", "out", "bf16"},
                                     {"p.copy", "out", "bf16"},
                                     {"q.rest", "state", "f32"},
                                     {"p.rest", "state", "f32"}};
  EXPECT_EQ(*added, expected);
}

TEST(Features, OperandsBelongToTheFeatureThatNamesThem) {
  EXPECT_TRUE(isAddedBy(*findFeature("copy"), "p.copy"));
  EXPECT_FALSE(isAddedBy(*findFeature("copy"), "p_copy"));
  EXPECT_FALSE(isAddedBy(*findFeature("copy"), "p.rest"));
  Feature all = *findFeature("copy");
  all.operand = "all.scale";
  EXPECT_TRUE(isAddedBy(all, "all.scale"));
  EXPECT_FALSE(isAddedBy(all, "p.scale"));
}

TEST(Features, OneOperandOfThePlanHasOneValue) {
  auto added = addedOperands(kSgd, Names{"guard", "clip"});
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, (std::vector<AddedOperand>{{"all.norm", "out", "f32", "all"},
                                               {"all.skipped", "out", "f32", "all"}}));
}

TEST(Features, SomeAddNoOperandAndChangeTheirRole) {
  auto added = addedOperands(kSgd, Names{"unscale", "zero_grad"});
  ASSERT_TRUE(added);
  EXPECT_EQ(added->size(), 0u);
  EXPECT_TRUE(writesRole(*findFeature("zero_grad")));
  EXPECT_TRUE(unreadsRole(*findFeature("master")));
  EXPECT_FALSE(isAddedBy(*findFeature("unscale"), ""));
}

TEST(Features, RefuseWhatCannotBe) {
  EXPECT_EQ(
      refusal(kSgd, {"copi"}),
      "expected a feature (unscale, clip, clip_value, master, copy, ema, zero_grad, guard), got "
      "'copi'; choose one of the list");
  EXPECT_EQ(refusal(kSgd, {"copy", "copy"}),
            "expected each feature once, got 'copy' twice; give it once");
  std::vector<FeatureOperand> scale{{"x", "in"}, {"y", "out"}};
  EXPECT_EQ(refusal(scale, {"copy"}), "expected an op with an operand of role param for feature "
                                      "'copy', got none; drop the feature");
  EXPECT_EQ(refusal(kSgd, {"split", "master"}, kTable),
            "expected feature 'split' without 'master', got both: both keep the low bits of a "
            "parameter; drop one of the two");
}

} // namespace
} // namespace fw::passes
