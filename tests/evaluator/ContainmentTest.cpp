// Random expressions: what real f32 arithmetic gives lies within the bounds, contracted or not, and
// the bounds are no wider than they have to be.
#include "compiler/dialect/evaluator/Compare.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tests/evaluator/TestModule.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace fw::evaluator::test {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();

float maxOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// A kind of node: its text over %x, %y, %z and its value in f32.
struct Kind {
  const char *op, *operands;
  float (*value)(float, float, float);
};
const Kind kKinds[] = {
    {"arith.addf", "%x, %y", [](float a, float b, float) { return a + b; }},
    {"arith.subf", "%x, %y", [](float a, float b, float) { return a - b; }},
    {"arith.mulf", "%x, %y", [](float a, float b, float) { return a * b; }},
    {"arith.divf", "%x, %y", [](float a, float b, float) { return a / b; }},
    {"math.fma", "%x, %y, %z", [](float a, float b, float c) { return std::fma(a, b, c); }},
    {"arith.mulf", "%x, %x", [](float a, float, float) { return a * a; }},
    {"arith.maximumf", "%x, %y", [](float a, float b, float) { return maxOf(a, b); }},
    {"arith.minimumf", "%x, %y", [](float a, float b, float) { return -maxOf(-a, -b); }},
    {"math.sqrt", "%x", [](float a, float, float) { return std::sqrt(a); }},
    {"math.absf", "%x", [](float a, float, float) { return std::abs(a); }},
    {"arith.negf", "%x", [](float a, float, float) { return -a; }},
    {"math.floor", "%x", [](float a, float, float) { return std::floor(a); }},
    {"math.roundeven", "%x", [](float a, float, float) { return std::nearbyint(a); }},
    {"fuse.sign", "%x", [](float a, float, float) { return a > 0   ? 1.0f
                                                           : a < 0 ? -1.0f
                                                                   : a; }},
    {"select", "%x, %y, %z", [](float a, float b, float c) { return a < b ? c : a; }},
};

struct Node {
  const Kind *kind;
  size_t x, y, z;
};

/// Nodes after the three leaves %v0, %v1, %v2; the last one is the result.
struct Expression {
  std::vector<Node> nodes;

  static Expression random(std::mt19937_64 &random, size_t size, size_t kinds) {
    Expression e;
    for (size_t i = 0; i < size; ++i) {
      auto earlier = [&] { // likely a late one, so that errors add up
        const size_t n = i + 3;
        return random() % 2 ? n - 1 - random() % std::min<size_t>(n, 3) : random() % n;
      };
      e.nodes.push_back({&kKinds[random() % kinds], earlier(), earlier(), earlier()});
    }
    return e;
  }

  std::string text() const {
    std::string out;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node &node = nodes[i];
      const std::string name = i + 1 == nodes.size() ? "%y" : "%v" + std::to_string(i + 3);
      auto value = [](size_t v) {
        return v < 3 ? std::string(1, '%') + "abc"[v] : "%v" + std::to_string(v);
      };
      std::string operands = node.kind->operands;
      for (auto [place, v] : {std::pair("%x", node.x), {"%y", node.y}, {"%z", node.z}})
        for (size_t at; (at = operands.find(place)) != std::string::npos;)
          operands.replace(at, 2, "#" + std::to_string(v) + ";");
      for (size_t at; (at = operands.find('#')) != std::string::npos;) {
        const size_t end = operands.find(';');
        operands.replace(at, end + 1 - at, value(std::stoul(operands.substr(at + 1))));
      }
      if (std::string(node.kind->op) == "select")
        out += "%t" + std::to_string(i) + " = arith.cmpf olt, " + value(node.x) + ", " +
               value(node.y) + " : f32\n" + name + " = arith.select %t" + std::to_string(i) + ", " +
               value(node.z) + ", " + value(node.x) + " : f32\n";
      else
        out += name + " = " + node.kind->op + " " + operands + " : f32\n";
    }
    return out;
  }

  /// In machine f32; `contract` fuses every sum whose operand is a product.
  float value(float a, float b, float c, bool contract) const {
    std::vector<float> v = {a, b, c};
    for (const Node &node : nodes) {
      const std::string_view op = node.kind->op;
      const Node *product = node.x >= 3 ? &nodes[node.x - 3] : nullptr;
      const bool fuses = contract && product && product->kind == &kKinds[2] &&
                         (op == "arith.addf" || op == "arith.subf");
      v.push_back(fuses ? std::fma(v[product->x], v[product->y],
                                   op == "arith.addf" ? v[node.y] : -v[node.y])
                        : node.kind->value(v[node.x], v[node.y], v[node.z]));
    }
    return v.back();
  }
};

float drawAny(std::mt19937_64 &random) {
  switch (random() % 12) {
  case 0:
    return std::bit_cast<float>(uint32_t(random()));
  case 1:
    return std::ldexp(1.0f, int(random() % 20) - 149);
  case 2:
    return std::numeric_limits<float>::max();
  case 3:
    return random() % 2 ? 0.0f : -0.0f;
  case 4:
    return random() % 8 ? 1.0f : std::numeric_limits<float>::infinity();
  case 5:
    return float(int(random() % 9)) / 2 - 2;
  default:
    return std::normal_distribution<float>()(random);
  }
}

using Draw = float (*)(std::mt19937_64 &);

/// Both forms of `expression` against its bounds, on `n` elements.
void check(const Expression &expression, std::mt19937_64 &random, Draw draw, size_t n) {
  std::map<std::string, Tensor> data;
  std::vector<uint64_t> separate, contracted;
  for (size_t i = 0; i < n; ++i) {
    const float a = draw(random), b = draw(random), c = draw(random);
    data["a"].push_back(a), data["b"].push_back(b), data["c"].push_back(c);
    separate.push_back(std::bit_cast<uint32_t>(expression.value(a, b, c, false)));
    contracted.push_back(std::bit_cast<uint32_t>(expression.value(a, b, c, true)));
  }
  TestModule module(elementModule(expression.text()));
  const Evaluation evaluation = *module.evaluate(data, {1, 1});
  for (const auto *words : {&separate, &contracted}) {
    const Comparison comparison = compare(evaluation.operands[0], {*words});
    ASSERT_TRUE(comparison.ok()) << describe(comparison, *findDtype("f32")) << "\n"
                                 << expression.text();
  }
  const Bits bits = *module.interpret(data, {1, 1});
  ASSERT_TRUE(compareBits(bits.operands[0], {separate}).ok) << expression.text();
}

TEST(Containment, RandomExpressionsStayWithinTheirBounds) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 600 && !testing::Test::HasFatalFailure(); ++i)
    check(Expression::random(random, 1 + random() % 14, std::size(kKinds)), random, drawAny, 200);
}

TEST(Containment, SmoothExpressionsStayWithinTheirBounds) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i)
    check(Expression::random(random, 1 + random() % 14, 6), random, drawAny, 200);
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
  EXPECT_EQ(bound.lo, 0);
  EXPECT_EQ(bound.hi, 0x1p-149);
}

} // namespace
} // namespace fw::evaluator::test
