// Hand-worked values of each operation, in both modes, and the table against the dialect.
#include "compiler/dialect/evaluator/Evaluator.h"
#include "tests/evaluator/TestModule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fw::evaluator::test {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
const double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double U = 0x1p-24;

/// `%y = <op> %a, %b : f32`
std::string line(const std::string &op, const std::string &operands, const char *real = "f32") {
  return "%y = " + op + " " + operands + " : " + real;
}

struct Hand {
  const char *op, *operands;
  double a, b, c, expected;
};

class HandWorked : public testing::TestWithParam<Hand> {};

TEST_P(HandWorked, BothModesGiveTheValue) {
  const Hand &hand = GetParam();
  const std::string body = line(hand.op, hand.operands);
  const Tensor abc = {hand.a, hand.b, hand.c};
  const Bound bound = boundOf(body, abc);
  const double bits = bitsOf(body, abc);
  if (std::isnan(hand.expected)) {
    EXPECT_TRUE(bound.nan && std::isnan(bound.lo) && std::isnan(bound.value) && std::isnan(bits));
    return;
  }
  EXPECT_EQ(bound.value, hand.expected);
  EXPECT_EQ(bits, hand.expected);
  EXPECT_EQ(std::signbit(bits), std::signbit(hand.expected));
  EXPECT_FALSE(bound.nan);
  EXPECT_LE(bound.lo, bits);
  EXPECT_GE(bound.hi, bits);
  if (std::isfinite(hand.expected))
    EXPECT_LE(bound.bound, 2 * U * std::abs(hand.expected));
}

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, HandWorked,
    testing::Values(
        Hand{"arith.addf", "%a, %b", 1.5, 2.25, 0, 3.75},
        Hand{"arith.addf", "%a, %b", INF, -INF, 0, NOT_A_NUMBER},
        Hand{"arith.addf", "%a, %b", INF, 1, 0, INF},
        Hand{"arith.addf", "%a, %b", -0.0, -0.0, 0, -0.0},
        Hand{"arith.subf", "%a, %b", 1.5, 2.25, 0, -0.75},
        Hand{"arith.mulf", "%a, %b", 1.5, -2.5, 0, -3.75},
        Hand{"arith.mulf", "%a, %b", 0, INF, 0, NOT_A_NUMBER},
        Hand{"arith.mulf", "%a, %b", -0.0, 3, 0, -0.0}, Hand{"arith.mulf", "%a, %a", -3, 0, 0, 9},
        Hand{"arith.divf", "%a, %b", 1, 4, 0, 0.25}, Hand{"arith.divf", "%a, %b", 1, 0, 0, INF},
        Hand{"arith.divf", "%a, %b", 1, -0.0, 0, -INF},
        Hand{"arith.divf", "%a, %b", 0, 0, 0, NOT_A_NUMBER},
        Hand{"arith.divf", "%a, %b", 5, INF, 0, 0}, Hand{"arith.negf", "%a", 3, 0, 0, -3},
        Hand{"math.sqrt", "%a", 9, 0, 0, 3}, Hand{"math.sqrt", "%a", -1, 0, 0, NOT_A_NUMBER},
        Hand{"math.sqrt", "%a", -0.0, 0, 0, -0.0}, Hand{"math.fma", "%a, %b, %c", 3, 5, -15, 0},
        Hand{"math.fma", "%a, %b, %c", 1 + 0x1p-23, 1 - 0x1p-23, -1, -0x1p-46},
        Hand{"math.fma", "%a, %b, %c", 0, INF, 1, NOT_A_NUMBER}));

INSTANTIATE_TEST_SUITE_P(
    Exact, HandWorked,
    testing::Values(
        Hand{"math.absf", "%a", -3, 0, 0, 3}, Hand{"math.absf", "%a", -INF, 0, 0, INF},
        Hand{"arith.maximumf", "%a, %b", 1, 2, 0, 2},
        Hand{"arith.maximumf", "%a, %b", -0.0, 0.0, 0, 0.0},
        Hand{"arith.maximumf", "%a, %b", NOT_A_NUMBER, 2, 0, NOT_A_NUMBER},
        Hand{"arith.maximumf", "%a, %b", 2, NOT_A_NUMBER, 0, NOT_A_NUMBER},
        Hand{"arith.minimumf", "%a, %b", 1, 2, 0, 1},
        Hand{"arith.minimumf", "%a, %b", 0.0, -0.0, 0, -0.0},
        Hand{"math.floor", "%a", -1.5, 0, 0, -2}, Hand{"math.ceil", "%a", -1.5, 0, 0, -1},
        Hand{"math.trunc", "%a", -1.5, 0, 0, -1}, Hand{"math.roundeven", "%a", 2.5, 0, 0, 2},
        Hand{"math.roundeven", "%a", 3.5, 0, 0, 4}, Hand{"fuse.sign", "%a", -7, 0, 0, -1},
        Hand{"fuse.sign", "%a", 0, 0, 0, 0}, Hand{"fuse.sign", "%a", -0.0, 0, 0, -0.0},
        Hand{"fuse.sign", "%a", NOT_A_NUMBER, 0, 0, NOT_A_NUMBER}));

/// Values that the functions must give exactly, or within their ulps.
struct Known {
  const char *op;
  double x, expected;
};
class KnownFunction : public testing::TestWithParam<Known> {};

TEST_P(KnownFunction, BothModesGiveTheValue) {
  const auto &[op, x, expected] = GetParam();
  const Bound bound = boundOf(line(op, "%a"), {x});
  const double bits = bitsOf(line(op, "%a"), {x});
  if (std::isnan(expected)) {
    EXPECT_TRUE(bound.nan && std::isnan(bound.lo) && std::isnan(bits));
    return;
  }
  EXPECT_TRUE(bound.value == expected ||
              std::abs(bound.value - expected) < 1e-7 * std::abs(expected));
  EXPECT_LE(bound.lo, bits);
  EXPECT_GE(bound.hi, bits);
  if (std::isfinite(expected))
    EXPECT_LE(bound.bound, 12 * U * std::abs(expected) + 0x1p-145);
}

INSTANTIATE_TEST_SUITE_P(
    Values, KnownFunction,
    testing::Values(Known{"math.exp", 0, 1}, Known{"math.exp", 1, 2.718281828459045},
                    Known{"math.exp", 1e4, INF}, Known{"math.exp", -INF, 0},
                    Known{"math.exp", -95, 5.521082277028533e-42}, Known{"math.exp2", 10, 1024},
                    Known{"math.expm1", 1e-10, 1.00000000005e-10}, Known{"math.log", 1, 0},
                    Known{"math.log", 0, -INF}, Known{"math.log", -1, NOT_A_NUMBER},
                    Known{"math.log2", 8, 3}, Known{"math.log1p", -1, -INF},
                    Known{"math.log1p", -2, NOT_A_NUMBER}, Known{"math.tanh", 100, 1},
                    Known{"math.tanh", 0.5, 0.46211715726000975},
                    Known{"math.erf", 0.5, 0.5204998778130465}, Known{"math.erf", -INF, -1},
                    Known{"math.sin", 1, 0.8414709848078965}, Known{"math.sin", INF, NOT_A_NUMBER},
                    Known{"math.cos", 0, 1}, Known{"math.cos", 1e6, 0.9367521275331447},
                    Known{"math.rsqrt", 4, 0.5}, Known{"math.rsqrt", 0, INF},
                    Known{"math.rsqrt", -1, NOT_A_NUMBER}, Known{"fuse.sigmoid", 0, 0.5},
                    Known{"fuse.sigmoid", -INF, 0}, Known{"fuse.sigmoid", 200, 1}));

/// What a multiplication by a rounded log2(e) and a 2^x within 2 ulp give, both at their worst.
TEST(Operations, ExponentialsOfTheHardwareAreWithinTheirOwnBound) {
  const auto bounded = [](const std::string &op, double x) {
    return boundOf("%y = " + op + " %a fastmath<afn> : f32", {x});
  };
  for (double given : {-126.5, -87.33, -80.0, -1.0, -1e-3, 0.0, 0.3, 1.0, 7.77, 60.0, 88.7}) {
    const auto x = static_cast<float>(given), t = x * 1.44269504f;
    for (auto &[op, exact, hardware] :
         {std::tuple("math.exp", std::exp(double(x)), std::exp2(double(t))),
          std::tuple("math.exp2", std::exp2(double(x)), std::exp2(double(x)))}) {
      const Bound bound = bounded(op, x);
      const double ulp = std::ldexp(2 * U, std::max(std::ilogb(exact), -126));
      EXPECT_NEAR(bound.value, exact, 1e-12 * exact);
      EXPECT_LE(bound.lo, hardware < 0x1p-126 ? 0 : hardware - 1.99 * ulp) << op << " " << x;
      EXPECT_GE(bound.hi, hardware + 1.99 * ulp) << op << " " << x;
      EXPECT_LE(bound.bound, (5 + 1.5 * std::abs(x)) * ulp + 0x1p-126) << op << " " << x;
    }
  }
  EXPECT_EQ(bounded("math.exp", -INF).bound, 0);
  EXPECT_EQ(bounded("math.exp", 1e4).hi, INF);
  EXPECT_EQ(bounded("math.exp", -1e4).bound, 0);
  EXPECT_TRUE(bounded("math.exp", NOT_A_NUMBER).nan);
}

/// What the CPU computes in their place is inside that bound, to the ends of the range.
TEST(Operations, LeanExponentialsAreWithinTheBoundOfTheHardwares) {
  for (const char *op : {"math.exp", "math.exp2"}) {
    const std::string line = "%y = " + std::string(op) + " %a fastmath<afn> : f32";
    for (double x = -160; x < 160; x += 0.3217) {
      const Bound bound = boundOf(line, {double(float(x))});
      const double bits = bitsOf(line, {double(float(x))});
      ASSERT_LE(bound.lo, bits) << op << " " << x;
      ASSERT_GE(bound.hi, bits) << op << " " << x;
    }
    for (double x : {-INF, -3e38, -126.0, -0.0, 0.0, 127.99999, 128.0, 3e38, INF}) {
      const Bound bound = boundOf(line, {double(float(x))});
      const double bits = bitsOf(line, {double(float(x))});
      EXPECT_LE(bound.lo, bits) << op << " " << x;
      EXPECT_GE(bound.hi, bits) << op << " " << x;
    }
    EXPECT_TRUE(std::isnan(bitsOf(line, {NOT_A_NUMBER})));
  }
}

TEST(Operations, DoublesAreBoundedInDoubles) {
  for (const char *op : {"arith.divf", "arith.addf"}) {
    const Bound bound = boundOf(line(op, "%a, %b", "f64"), {1, 3}, "f64", "f64");
    EXPECT_GT(bound.bound, 0);
    EXPECT_LE(bound.bound, 0x1p-52 * std::abs(bound.value));
    const double bits = bitsOf(line(op, "%a, %b", "f64"), {1, 3}, "f64", "f64");
    EXPECT_LE(bound.lo, bits);
    EXPECT_GE(bound.hi, bits);
  }
  EXPECT_EQ(bitsOf(line("arith.divf", "%a, %b", "f64"), {1, 3}, "f64", "f64"), 1.0 / 3.0);
}

TEST(Operations, SelectDoesNotLeakTheOtherArm) {
  const std::string body = R"(%q = arith.divf %a, %a : f32
    %t = arith.cmpf oeq, %a, %b : f32
    %y = arith.select %t, %b, %q : f32)";
  const Bound bound = boundOf(body, {0, 0});
  EXPECT_EQ(bound.value, 0);
  EXPECT_FALSE(bound.nan);
  EXPECT_EQ(bitsOf(body, {0, 0}), 0);
}

TEST(Operations, ComparisonsWithNanAreFalseButNotEqual) {
  for (const char *predicate : {"olt", "ole", "ogt", "oge", "oeq", "une"}) {
    const std::string body = std::string("%t = arith.cmpf ") + predicate +
                             ", %a, %b : f32\n%y = arith.select %t, %b, %c : f32";
    const bool holds = std::string(predicate) == "une";
    EXPECT_EQ(bitsOf(body, {NOT_A_NUMBER, 1, 2}), holds ? 1 : 2) << predicate;
    const Bound bound = boundOf(body, {NOT_A_NUMBER, 1, 2});
    EXPECT_EQ(bound.lo, holds ? 1 : 2) << predicate;
    EXPECT_EQ(bound.hi, bound.lo) << predicate;
  }
}

TEST(Operations, TestsOfInfinityAndNan) {
  auto chosen = [](const char *op, double a) {
    return boundOf(std::string("%t = ") + op + " %a : f32\n%y = arith.select %t, %b, %c : f32",
                   {a, 1, 2});
  };
  EXPECT_EQ(chosen("math.isfinite", 3).value, 1);
  EXPECT_EQ(chosen("math.isfinite", INF).value, 2);
  EXPECT_EQ(chosen("math.isfinite", NOT_A_NUMBER).value, 2);
  EXPECT_EQ(chosen("math.isnan", NOT_A_NUMBER).value, 1);
  EXPECT_EQ(chosen("math.isnan", INF).value, 2);
  EXPECT_EQ(chosen("math.isnan", INF).bound, 0);
}

TEST(Operations, BoolsAndInts) {
  const std::string body = R"(%n = fuse.scalar "n" : i64
    %ten = arith.constant 10 : i64
    %yes = arith.constant true
    %p = arith.cmpi slt, %n, %ten : i64
    %q = arith.cmpf olt, %a, %b : f32
    %r = arith.andi %p, %q : i1
    %s = arith.xori %r, %yes : i1
    %t = arith.ori %s, %p : i1
    %u = fuse.uniform %p : i1 to i1
    %v = arith.select %u, %t, %s : i1
    %one = arith.constant 1.0 : f32
    %y = arith.select %v, %one, %c : f32)";
  EXPECT_EQ(bitsOf(body, {1, 2, 5, 1, 3}), 1);  // v = t = true
  EXPECT_EQ(bitsOf(body, {1, 2, 5, 1, 30}), 1); // p false: v = s = not(false)
  EXPECT_EQ(boundOf(body, {1, 2, 5, 1, 30}).value, 1);
  EXPECT_EQ(boundOf(body, {1, 2, 5, 1, 30}).bound, 0);
}

TEST(Operations, ScalarProgramIsDoubleAndRoundedOnce) {
  const std::string body = R"(%h = fuse.scalar "h" : f64
    %n = fuse.scalar "n" : i64
    %one = arith.constant 1.0 : f64
    %p = math.fpowi %h, %n : f64, i64
    %c1 = arith.subf %one, %p : f64
    %y = fuse.uniform %c1 : f64 to f32)";
  // f32 alone gives 1 - 0.999f = 0.0009999871.
  const double exact = 1 - 0.999;
  EXPECT_EQ(bitsOf(body, {0, 0, 0, 0.999, 1}), static_cast<float>(exact));
  const Bound bound = boundOf(body, {0, 0, 0, 0.999, 1});
  EXPECT_EQ(bound.value, static_cast<float>(exact));
  EXPECT_EQ(bound.bound, 0);
  EXPECT_EQ(bitsOf(body, {0, 0, 0, 2, 10}), -1023);
  EXPECT_EQ(bitsOf(body, {0, 0, 0, 2, -1}), 0.5);
}

TEST(Operations, IntsBecomeReals) {
  const std::string body = R"(%n = fuse.scalar "n" : i64
    %r = arith.sitofp %n : i64 to f64
    %y = fuse.uniform %r : f64 to f32)";
  EXPECT_EQ(bitsOf(body, {0, 0, 0, 0, 12345}), 12345);
  EXPECT_EQ(boundOf(body, {0, 0, 0, 0, 12345}).value, 12345);
  // The step as a real is exact, so a comparison at the threshold is decided.
  const std::string above = R"(%n = fuse.scalar "n" : i64
    %r = arith.sitofp %n : i64 to f64
    %five = arith.constant 5.0 : f64
    %t = arith.cmpf ogt, %r, %five : f64
    %y = arith.select %t, %a, %b : f32)";
  EXPECT_EQ(boundOf(above, {1, 2, 0, 0, 5}).value, 2);
  EXPECT_EQ(boundOf(above, {1, 2, 0, 0, 5}).bound, 0);
}

TEST(Operations, IntsAddMultiplyAndCompare) {
  // max(min(3*n - 2, 10), n + 1)
  const std::string body = R"(%n = fuse.scalar "n" : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    %ten = arith.constant 10 : i64
    %p = arith.muli %three, %n : i64
    %q = arith.subi %p, %two : i64
    %r = arith.minsi %q, %ten : i64
    %s = arith.addi %n, %one : i64
    %t = arith.maxsi %r, %s : i64
    %u = arith.sitofp %t : i64 to f64
    %y = fuse.uniform %u : f64 to f32)";
  for (auto [n, want] : {std::pair{1.0, 2.0}, {3.0, 7.0}, {5.0, 10.0}, {12.0, 13.0}}) {
    EXPECT_EQ(bitsOf(body, {0, 0, 0, 0, n}), want);
    EXPECT_EQ(boundOf(body, {0, 0, 0, 0, n}).value, want);
    EXPECT_EQ(boundOf(body, {0, 0, 0, 0, n}).bound, 0);
  }
}

// As in the scalar program, which has f64 alone.
TEST(Operations, IntsBeyond2To53AreRounded) {
  std::string body = "%n = fuse.scalar \"n\" : i64\n%p0 = arith.muli %n, %n : i64\n";
  for (int i = 0; i < 6; ++i) // n^8
    body += "%p" + std::to_string(i + 1) + " = arith.muli %p" + std::to_string(i) + ", %n : i64\n";
  body += "%u = arith.sitofp %p6 : i64 to f64\n%y = fuse.uniform %u : f64 to f32\n";
  for (double n : {3.0, 1000.0, -1000.0, 12345.0}) {
    double want = n;
    for (int i = 0; i < 7; ++i)
      want *= n;
    EXPECT_EQ(bitsOf(body, {0, 0, 0, 0, n}), double(float(want)));
    const Bound bound = boundOf(body, {0, 0, 0, 0, n});
    EXPECT_LE(bound.lo, double(float(want))) << n;
    EXPECT_GE(bound.hi, double(float(want))) << n;
    EXPECT_LE(bound.bound, std::abs(want) * 0x1p-23) << n;
  }
}

TEST(Operations, CastRoundsOnceInTheFormat) {
  const std::string body = R"(%n = fuse.cast %a : f32 to f8E4M3FN
    %y = fuse.cast %n : f8E4M3FN to f32)";
  EXPECT_EQ(bitsOf(body, {464}), 448);
  EXPECT_TRUE(std::isnan(bitsOf(body, {465})));
  EXPECT_EQ(boundOf(body, {17.1}).value, 18);
  EXPECT_TRUE(std::isnan(boundOf(body, {465}).lo));
  const std::string saturating = R"(%n = fuse.cast saturate %a : f32 to f8E4M3FN
    %y = fuse.cast %n : f8E4M3FN to f32)";
  EXPECT_EQ(bitsOf(saturating, {1e9}), 448);
  EXPECT_EQ(boundOf(saturating, {-1e9}).value, -448);
}

TEST(Operations, RoundToNamesItsDtype) {
  const std::string body = "%y = fuse.round_to \"e4m3fn.sat\", %a : f32";
  EXPECT_EQ(bitsOf(body, {1e9}), 448);
  EXPECT_EQ(bitsOf(body, {17.1}), 18);
  EXPECT_EQ(boundOf(body, {17.1}).bound, 0);
}

TEST(Operations, TheScalarProgramRoundsToADtype) {
  const char *unresolved = R"(%h = fuse.scalar "h" : f64
    %r = fuse.round_to "bf16", %h : f64
    %y = fuse.uniform %r : f64 to f32)";
  const char *resolved = R"(%h = fuse.scalar "h" : f64
    %n = fuse.cast %h : f64 to bf16
    %r = fuse.cast %n : bf16 to f64
    %y = fuse.uniform %r : f64 to f32)";
  for (const char *body : {unresolved, resolved}) {
    EXPECT_EQ(bitsOf(body, {0, 0, 0, 1.005, 1}), 1.0078125);
    EXPECT_EQ(boundOf(body, {0, 0, 0, 1.005, 1}).value, 1.0078125);
  }
}

TEST(Operations, StoredAndLargestFollowTheOperandsDtype) {
  EXPECT_EQ(bitsOf("%y = fuse.stored \"y\", %a : f32", {1.00390625}, "bf16"), 1);
  EXPECT_EQ(boundOf("%y = fuse.stored \"y\", %a : f32", {1.01171875}, "bf16").lo, 1.015625);
  const std::string body = "%l = fuse.largest \"y\" : f64\n%y = fuse.uniform %l : f64 to f32";
  EXPECT_EQ(bitsOf(body, {}, "f16"), 65504);
  EXPECT_EQ(boundOf(body, {}, "e5m2").value, 57344);
}

TEST(Operations, EveryOperationOfTheSemanticLevelHasARow) {
  const auto known = knownOperations();
  auto listed = [&](std::string_view name) { return std::ranges::count(known, name) == 1; };
  const std::vector<std::string_view> phaseLevel = {
      "fuse.op",   "fuse.program", "fuse.scalars", "fuse.result", "fuse.kernel",    "fuse.slot",
      "fuse.each", "fuse.yield",   "fuse.load",    "fuse.store",  "fuse.reduction", "fuse.reduced"};
  mlir::MLIRContext context;
  context.loadDialect<fuse::FuseDialect>();
  for (mlir::RegisteredOperationName op :
       context.getRegisteredOperationsByDialect(fuse::FuseDialect::getDialectNamespace())) {
    const std::string name = op.getStringRef().str();
    EXPECT_NE(listed(name), std::ranges::count(phaseLevel, name) == 1) << name;
  }
  // What lowering makes of the language's functions.
  for (const char *name :
       {"arith.constant", "arith.addf",     "arith.subf",     "arith.mulf",     "arith.divf",
        "arith.negf",     "arith.maximumf", "arith.minimumf", "arith.cmpf",     "arith.cmpi",
        "arith.andi",     "arith.ori",      "arith.xori",     "arith.select",   "arith.sitofp",
        "arith.addi",     "arith.subi",     "arith.muli",     "arith.maxsi",    "arith.minsi",
        "math.absf",      "math.floor",     "math.ceil",      "math.roundeven", "math.trunc",
        "math.sqrt",      "math.rsqrt",     "math.exp",       "math.exp2",      "math.expm1",
        "math.log",       "math.log2",      "math.log1p",     "math.tanh",      "math.erf",
        "math.sin",       "math.cos",       "math.fma",       "math.fpowi",     "math.isfinite",
        "math.isnan"})
    EXPECT_TRUE(listed(name)) << name;
}

TEST(Operations, WhatIsNotKnownIsRefusedByName) {
  TestModule module(elementModule("%y = math.cbrt %a : f32"));
  auto result = module.evaluate({{"a", {1}}, {"b", {1}}, {"c", {1}}}, {0, 0});
  ASSERT_FALSE(result);
  EXPECT_EQ(render(result.error()),
            "expected an operation that the evaluator knows, got 'math.cbrt'; add its row to "
            "compiler/dialect/evaluator/Operations.h");
}

TEST(Operations, WrongDataIsRefused) {
  TestModule module(elementModule("%y = arith.addf %a, %b : f32"));
  auto text = [&](const std::map<std::string, Tensor> &data, const Tensor &scalars) {
    auto result = module.evaluate(data, scalars);
    return result ? "accepted" : result.error().text;
  };
  EXPECT_EQ(text({{"a", {1}}, {"b", {1}}}, {0, 0}), "expected 1 tensors of operand 'c', got 0");
  EXPECT_EQ(text({{"a", {1}}, {"b", {1, 2}}, {"c", {1}}}, {0, 0}),
            "expected 1 elements in tensor 0 of operand 'b', got 2");
  EXPECT_EQ(text({{"a", {1}}, {"b", {1}}, {"c", {1}}}, {0}), "expected 2 scalars in a row, got 1");
}

} // namespace
} // namespace fw::evaluator::test
