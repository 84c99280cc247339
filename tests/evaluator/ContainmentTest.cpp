// Random expressions: what real f32 arithmetic gives lies within the bounds, contracted or not, and
// the bounds are no wider than they have to be.
#include "compiler/dialect/evaluator/Compare.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tests/evaluator/RandomExpression.h"
#include "tests/evaluator/TestModule.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace fw::evaluator::test {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();

/// Both forms of `expression` against its bounds, and the plain one against the bits.
template <class F> void check(const Expression<F> &expression, std::mt19937_64 &random) {
  using Word = std::conditional_t<sizeof(F) == 8, uint64_t, uint32_t>;
  const std::string real = sizeof(F) == 8 ? "f64" : "f32";
  std::map<std::string, Tensor> data;
  std::vector<uint64_t> separate, contracted;
  for (int i = 0; i < 200; ++i) {
    const F a = drawAny<F>(random), b = drawAny<F>(random), c = drawAny<F>(random);
    data["a"].push_back(a), data["b"].push_back(b), data["c"].push_back(c);
    separate.push_back(std::bit_cast<Word>(expression.value(a, b, c, false)));
    contracted.push_back(std::bit_cast<Word>(expression.value(a, b, c, true)));
  }
  TestModule module(elementModule(expression.text(), real, real));
  const Evaluation evaluation = *module.evaluate(data, {1, 1});
  for (const auto *words : {&separate, &contracted}) {
    const Comparison comparison = compare(evaluation.operands[0], {*words});
    ASSERT_TRUE(comparison.ok()) << describe(comparison, *findDtype(real)) << "\n"
                                 << expression.text();
    ASSERT_LE(comparison.worst.ratio, 1) << describe(comparison, *findDtype(real));
  }
  const Bits bits = *module.interpret(data, {1, 1});
  ASSERT_TRUE(compareBits(bits.operands[0], {separate}).ok) << expression.text();
}

template <class F> class RandomExpressions : public testing::Test {};
using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(RandomExpressions, Formats);

TYPED_TEST(RandomExpressions, OfAllKindsStayWithinTheirBounds) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 600 && !testing::Test::HasFatalFailure(); ++i)
    check(Expression<TypeParam>(random, 1 + random() % 14), random);
}

TYPED_TEST(RandomExpressions, WithSlopesStayWithinTheirBounds) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i)
    check(Expression<TypeParam>(random, 1 + random() % 14, SMOOTH), random);
}

/// Functions on arguments of every size: the vocabulary's own text within the ulps of its table.
class Functions : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

TEST_P(Functions, StayWithinTheirBounds) {
  const auto &[op, real] = GetParam();
  std::mt19937_64 random(14);
  Tensor a;
  for (int i = 0; i < 20000; ++i) {
    const double any = drawAny<double>(random);
    a.push_back(
        roundTo(*findDtype(real), i % 2 ? any : any * std::ldexp(1.0, int(random() % 40) - 20)));
  }
  TestModule module(elementModule(std::string("%y = ") + op + " %a : " + real, real, real));
  const std::map<std::string, Tensor> data = {{"a", a}, {"b", a}, {"c", a}};
  const Comparison comparison = compare(module.evaluate(data, {1, 1})->operands[0],
                                        module.interpret(data, {1, 1})->operands[0].tensors);
  EXPECT_TRUE(comparison.ok()) << describe(comparison, *findDtype(real));
  EXPECT_GT(comparison.worst.ratio, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, Functions,
                         testing::Combine(testing::Values("math.rsqrt", "math.exp", "math.exp2",
                                                          "math.expm1", "math.log", "math.log2",
                                                          "math.log1p", "math.tanh", "math.erf",
                                                          "math.sin", "math.cos", "fuse.sigmoid"),
                                          testing::Values("f32", "f64")));

TEST(Containment, ScalarProgramsStayWithinTheirBounds) {
  // What f64 cannot decide moves the rounded result by one place at most.
  TestModule module(elementModule(R"(%h = fuse.scalar "h" : f64
    %n = fuse.scalar "n" : i64
    %one = arith.constant 1.0 : f64
    %p = math.fpowi %h, %n : f64, i64
    %c1 = arith.subf %one, %p : f64
    %r = math.sqrt %c1 : f64
    %q = arith.divf %h, %r : f64
    %y = fuse.uniform %q : f64 to f32)"));
  std::mt19937_64 random(15);
  for (int i = 0; i < 500; ++i) {
    const double h = std::uniform_real_distribution<double>()(random);
    const Tensor scalars = {h, double(1 + random() % (i < 250 ? 10 : 100000))};
    const std::map<std::string, Tensor> data = {{"a", {0}}, {"b", {0}}, {"c", {0}}};
    const Evaluation evaluation = *module.evaluate(data, scalars);
    const Comparison comparison =
        compare(evaluation.operands[0], module.interpret(data, scalars)->operands[0].tensors);
    ASSERT_TRUE(comparison.ok()) << describe(comparison, *findDtype("f32"));
    const Bound &bound = evaluation.operands[0].tensors[0][0];
    ASSERT_LE(bound.bound, 0x1p-23 * std::abs(bound.value));
  }
}

TEST(Containment, BoundsOfPositiveSumsAndProductsAreAFewUlps) {
  // A chain of n products and sums of positive numbers is off by n*u and half an ulp of storage.
  const std::string body = R"(%v0 = arith.mulf %a, %b : f32
    %v1 = arith.addf %v0, %c : f32
    %v2 = arith.divf %v1, %b : f32
    %v3 = arith.mulf %v2, %c : f32
    %v4 = arith.addf %v3, %a : f32
    %y = math.sqrt %v4 : f32)";
  std::mt19937_64 random(13);
  std::uniform_real_distribution<float> draw(0.1f, 10);
  for (int i = 0; i < 100; ++i) {
    const Bound bound = boundOf(body, {draw(random), draw(random), draw(random)});
    EXPECT_LE(bound.bound, (5 / 2.0 + 1 + 2) * 0x1p-24 * bound.value);
    EXPECT_GE(bound.bound, 0x1p-24 * bound.value);
  }
}

TEST(Containment, AnUndecidedComparisonCoversBothArms) {
  // (a + b) - a is b give or take a rounding; whether it is below b is not decided.
  const std::string body = R"(%s = arith.addf %a, %b : f32
    %d = arith.subf %s, %a : f32
    %t = arith.cmpf olt, %d, %b : f32
    %two = arith.constant 2.0 : f32
    %y = arith.select %t, %two, %c : f32)";
  const Bound undecided = boundOf(body, {1, 0.1f, 7});
  EXPECT_EQ(undecided.lo, 2);
  EXPECT_EQ(undecided.hi, 7);
  EXPECT_EQ(undecided.value, 7);
  EXPECT_EQ(undecided.bound, 5);
  const Bound decided =
      boundOf("%t = arith.cmpf olt, %a, %b : f32\n%y = arith.select %t, %a, %c : f32", {1, 2, 7});
  EXPECT_EQ(decided.lo, 1);
  EXPECT_EQ(decided.hi, 1);
}

TEST(Containment, UndecidedStepsCoverBothSides) {
  const std::string third = "%q = arith.divf %a, %b : f32\n%r = arith.mulf %q, %b : f32\n";
  for (const char *step : {"math.floor", "math.trunc"}) {
    const Bound bound = boundOf(third + "%y = " + step + " %r : f32", {1, 3});
    EXPECT_EQ(bound.lo, 0) << step;
    EXPECT_EQ(bound.hi, 1) << step;
  }
  EXPECT_EQ(boundOf(third + "%y = math.ceil %r : f32", {1, 3}).hi, 2);
  const std::string half = third + "%h = arith.mulf %r, %c : f32\n";
  const Bound tie = boundOf(half + "%y = math.roundeven %h : f32", {1, 3, 2.5});
  EXPECT_EQ(tie.lo, 2);
  EXPECT_EQ(tie.hi, 3);
  const Bound sign =
      boundOf(third + "%d = arith.subf %r, %c : f32\n%y = fuse.sign %d : f32", {1, 3, 1});
  EXPECT_EQ(sign.lo, -1);
  EXPECT_EQ(sign.hi, 1);
}

TEST(Containment, AnUndecidedStorageTieCoversBothNeighbours) {
  // 1 + 2^-8 lies between two bf16; the product is that give or take 2^-24.
  const Bound bound = boundOf("%y = arith.mulf %a, %b : f32", {1.00390625, 1}, "bf16");
  EXPECT_EQ(bound.lo, 1);
  EXPECT_EQ(bound.hi, 1.0078125);
}

TEST(Containment, InfinityIsAcceptedNextToTheLargestValue) {
  const double largest = std::numeric_limits<float>::max();
  const Bound edge = boundOf("%y = arith.mulf %a, %b : f32", {largest, 1});
  EXPECT_EQ(edge.hi, INF);
  EXPECT_LE(edge.lo, largest);
  EXPECT_FALSE(edge.nan);
  const Bound beyond = boundOf("%y = arith.mulf %a, %b : f32", {largest, 2});
  EXPECT_EQ(beyond.hi, INF);
  const Verdict verdict = judge(*findDtype("f32"), 0x7f800000, beyond);
  EXPECT_TRUE(verdict.ok);
  EXPECT_FALSE(judge(*findDtype("f32"), std::bit_cast<uint32_t>(float(largest)), beyond).ok);
  const Bound half = boundOf("%y = arith.mulf %a, %b : f32", {70000, 1}, "f16");
  EXPECT_TRUE(judge(*findDtype("f16"), 0x7c00, half).ok);
  EXPECT_FALSE(judge(*findDtype("f16"), 0x7bff, half).ok);
}

TEST(Containment, OverflowOfEightBitFormatsFollowsTheirMode) {
  const std::string copy = "%y = arith.mulf %a, %b : f32";
  const Bound nan = boundOf(copy, {1000, 1}, "e4m3fn");
  EXPECT_TRUE(nan.nan && std::isnan(nan.lo));
  const Bound edge = boundOf(copy, {464, 1}, "e4m3fn"); // a tie, give or take 2^-24
  EXPECT_TRUE(edge.nan);
  EXPECT_EQ(edge.lo, 448);
  const Bound saturated = boundOf(copy, {1000, 1}, "e4m3fn.sat");
  EXPECT_FALSE(saturated.nan);
  EXPECT_TRUE(judge(*findDtype("e4m3fn.sat"), 0x7e, saturated).ok);
  EXPECT_FALSE(judge(*findDtype("e4m3fn.sat"), 0x7f, saturated).ok);
  const Bound infinite = boundOf("%y = arith.negf %a : f32", {-INF}, "e4m3fn.sat");
  EXPECT_TRUE(judge(*findDtype("e4m3fn.sat"), 0x7e, infinite).ok);
  EXPECT_EQ(judge(*findDtype("e4m3fn.sat"), 0x7e, infinite).ratio, 0);
  EXPECT_EQ(boundOf(copy, {70000, 1}, "e5m2").hi, INF);
  const Bound e5m2 = boundOf(copy, {70000, 1}, "e5m2.sat");
  EXPECT_TRUE(judge(*findDtype("e5m2.sat"), 0x7b, e5m2).ok);
  EXPECT_FALSE(judge(*findDtype("e5m2.sat"), 0x7c, e5m2).ok);
}

TEST(Containment, DivisionByWhatMayBeZeroMayBeAnything) {
  const std::string body = R"(%s = arith.addf %a, %b : f32
    %d = arith.subf %s, %a : f32
    %z = arith.subf %d, %b : f32
    %y = arith.divf %c, %z : f32)";
  const Bound bound = boundOf(body, {1, 0.1f, 7});
  EXPECT_EQ(bound.lo, -INF);
  EXPECT_EQ(bound.hi, INF);
  EXPECT_FALSE(bound.nan); // 7 is not zero
  EXPECT_TRUE(boundOf(body, {1, 0.1f, 0}).nan);
}

TEST(Containment, RootOfWhatMayBeNegativeMayBeNan) {
  const std::string body = R"(%s = arith.addf %a, %b : f32
    %d = arith.subf %s, %a : f32
    %z = arith.subf %d, %b : f32
    %y = math.sqrt %z : f32)";
  EXPECT_TRUE(boundOf(body, {1, 0.1f}).nan);
  // A sum of squares is never below zero, however small.
  const std::string squares = R"(%p = arith.mulf %a, %a : f32
    %q = arith.mulf %b, %b : f32
    %s = arith.addf %p, %q : f32
    %y = math.sqrt %s : f32)";
  EXPECT_FALSE(boundOf(squares, {1e-30, -1e-30}).nan);
  EXPECT_EQ(boundOf(squares, {1e-30, -1e-30}).lo, 0);
}

TEST(Containment, SubnormalResultsAreWithinTheAbsoluteTerm) {
  const Bound bound = boundOf("%y = arith.mulf %a, %b : f32", {0x1p-100, 0x1.8p-50});
  EXPECT_EQ(bound.value, 0x1.8p-150);
  for (uint64_t word : {0, 1, 2})
    EXPECT_EQ(judge(*findDtype("f32"), word, bound).ok, word == 1) << word; // 0.75 steps round to 1
}

} // namespace
} // namespace fw::evaluator::test
