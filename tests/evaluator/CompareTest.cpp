// Verdicts on single elements and the choice of the worst one.
#include "compiler/dialect/evaluator/Compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace fw::evaluator {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
const double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

uint64_t word(double x) { return std::bit_cast<uint32_t>(float(x)); }
Verdict verdict(double x, const Bound &bound) { return judge(*findDtype("f32"), word(x), bound); }

TEST(Compare, RatioPassesOneBeyondAnEnd) {
  const Bound bound = {1.0, 0.5, 0.75, 1.5, false};
  EXPECT_EQ(verdict(1.25, bound).ratio, 0.5);
  EXPECT_EQ(verdict(1.5, bound).ratio, 1);
  EXPECT_TRUE(verdict(0.75, bound).ok);
  EXPECT_EQ(verdict(0.75, bound).ratio, 0.5);
  EXPECT_FALSE(verdict(0.625, bound).ok); // nearer than the bound, but beyond its end
  EXPECT_EQ(verdict(0.625, bound).ratio, 1.5);
  EXPECT_EQ(verdict(1.0, bound).ratio, 0);
}

TEST(Compare, ExactElementsHaveNoRoom) {
  const Bound exact = {3, 0, 3, 3, false};
  EXPECT_TRUE(verdict(3, exact).ok);
  EXPECT_FALSE(verdict(std::nextafter(3.0f, 4.0f), exact).ok);
  EXPECT_EQ(verdict(std::nextafter(3.0f, 4.0f), exact).ratio, INF);
}

TEST(Compare, NanIsAcceptedWhereItIsPossible) {
  const Bound number = {1, 1, 0, 2, false}, both = {1, 1, 0, 2, true};
  const Bound nan = {NOT_A_NUMBER, 0, NOT_A_NUMBER, NOT_A_NUMBER, true};
  const Bound anything = {NOT_A_NUMBER, INF, -INF, INF, true};
  EXPECT_FALSE(verdict(NOT_A_NUMBER, number).ok);
  EXPECT_TRUE(verdict(NOT_A_NUMBER, both).ok);
  EXPECT_TRUE(verdict(NOT_A_NUMBER, nan).ok);
  EXPECT_FALSE(verdict(1, nan).ok);
  EXPECT_TRUE(verdict(1, anything).ok);
  EXPECT_TRUE(verdict(INF, anything).ok);
  const Bound positive = {NOT_A_NUMBER, INF, 0, INF, true};
  EXPECT_FALSE(verdict(-1, positive).ok);
  EXPECT_EQ(verdict(-1, positive).ratio, INF);
}

TEST(Compare, InfinityIsNoDistanceFromItself) {
  const Bound infinite = {INF, 0, INF, INF, false}, over = {1e39, INF, 1e39, INF, false};
  EXPECT_TRUE(verdict(INF, infinite).ok);
  EXPECT_EQ(verdict(INF, infinite).ratio, 0);
  EXPECT_FALSE(verdict(3e38, infinite).ok);
  EXPECT_FALSE(verdict(-INF, infinite).ok);
  EXPECT_TRUE(verdict(INF, over).ok);
}

TEST(Compare, TheWorstElementIsNamed) {
  const Bound bound = {1, 0.5, 0.5, 1.5, false};
  const Output<Bound> expected = {"y", "f32", {{bound, bound}, {}, {bound, bound, bound}}};
  const Comparison good =
      compare(expected, {{word(1), word(1.25)}, {}, {word(1), word(1.375), word(1)}});
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.elements, 5u);
  EXPECT_EQ(good.tensor, 2u);
  EXPECT_EQ(good.element, 1u);
  EXPECT_EQ(good.worst.ratio, 0.75);
  const Comparison bad = compare(expected, {{word(1), word(3)}, {}, {word(1), word(2), word(1)}});
  EXPECT_EQ(bad.failures, 2u);
  EXPECT_EQ(describe(bad, *findDtype("f32")),
            "tensor 0, element 1: expected 1 within [0.5, 1.5], got 3 (0x40400000): error 2, "
            "bound 0.5, ratio 4");
}

TEST(Compare, BitsDifferAtTheFirstPlace) {
  const Output<uint64_t> expected = {"y", "f32", {{word(1), word(NOT_A_NUMBER), word(2)}}};
  EXPECT_TRUE(compareBits(expected, {{word(1), 0xffc00001, word(2)}}).ok);
  const BitDifference difference = compareBits(expected, {{word(1), 0x7fc00000, word(2) + 1}});
  EXPECT_FALSE(difference.ok);
  EXPECT_EQ(difference.element, 2u);
  EXPECT_EQ(difference.produced, difference.expected + 1);
}

} // namespace
} // namespace fw::evaluator
