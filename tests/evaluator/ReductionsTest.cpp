// Reductions over lists of tensors, operands with one value per tensor or in all, and skipped runs.
#include "tests/evaluator/TestModule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fw::evaluator::test {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
const double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double U = 0x1p-24;

using Tensors = std::vector<Tensor>;

std::string operand(const char *name, const char *role, const char *scope,
                    const char *dtype = "f32") {
  return std::string("#fuse.operand<name = \"") + name + "\", role = " + role + ", dtype = \"" +
         dtype + "\", scope = <" + scope + ">>";
}

/// An op over `operands` with the f64 scalar "h".
std::string listModule(const std::string &operands, const std::string &body,
                       const char *domain = "elements") {
  return std::string("fuse.op @test over <") + domain + "> operands [" + operands +
         "] scalars [#fuse.hyper<name = \"h\", value = 1.0 : f64>] {\n" + body + "\n}\n";
}

/// The written operands of `text` for the tensors of each operand; the first operand has the sizes.
Result<Evaluation> evaluated(const std::string &text, const std::vector<Tensors> &data,
                             double h = 1) {
  TestModule module(text);
  Inputs inputs;
  if (module.op().getDomain().isElements())
    for (const Tensor &tensor : data.at(0))
      inputs.sizes.push_back(tensor.size());
  for (const Tensors &tensors : data)
    inputs.data.emplace_back(tensors.begin(), tensors.end());
  inputs.scalars = {{h}};
  return evaluate(module.op(), inputs);
}

/// n = KIND over x that keeps `keep`.
Evaluation reduced(const std::string &kind, const char *keep, const Tensors &x,
                   bool isF64 = false) {
  const char *scope = std::string(keep) == "tensor" ? "tensor" : "all";
  const std::string real = isF64 ? "f64" : "f32";
  auto result = evaluated(listModule(operand("x", "in", "element", real.c_str()) + ", " +
                                         operand("n", "out", scope, "f64"),
                                     "%x = fuse.read \"x\" : " + real + "\n%n = fuse.reduce " +
                                         kind + " keep <" + keep + "> %x : " + real +
                                         " to f64\nfuse.write \"n\", %n : f64"),
                          {x, {}});
  EXPECT_TRUE(result) << render(result.error());
  return *result;
}
Bound overAll(const std::string &kind, const Tensors &x) {
  return reduced(kind, "all", x).operands.at(0).tensors.at(0).at(0);
}

/// As a backend does it: each piece in f32 by `lanes` partial sums, which a tree adds; partials in
/// f64.
double sumByLanes(const Tensors &list, size_t lanes) {
  double total = 0;
  for (const Tensor &x : list)
    for (size_t start = 0; start < x.size(); start += 65536) {
      std::vector<float> sums(lanes, 0);
      for (size_t i = start; i < std::min(start + 65536, x.size()); ++i)
        sums[i % lanes] += float(x[i]);
      for (size_t half = lanes / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; ++i)
          sums[i] += sums[i + half];
      total += double(sums[0]);
    }
  return total;
}

Tensors normalNumbers(std::vector<size_t> sizes) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  Tensors list;
  for (size_t size : sizes) {
    Tensor &x = list.emplace_back(size);
    for (double &element : x)
      element = normal(random);
  }
  return list;
}

TEST(Sums, OfEveryBackendLieWithinTheBound) {
  const Tensors x = normalNumbers({200000, 1, 65537, 0, 700});
  const Bound bound = overAll("sum", x);
  double magnitude = 0;
  for (const Tensor &tensor : x)
    for (double element : tensor)
      magnitude += std::abs(element);
  for (size_t lanes : {32, 128, 1024}) {
    EXPECT_GE(sumByLanes(x, lanes), bound.lo) << lanes;
    EXPECT_LE(sumByLanes(x, lanes), bound.hi) << lanes;
  }
  EXPECT_LE(bound.bound, 2200 * U * magnitude);
  EXPECT_GE(bound.bound, 2000 * U * magnitude);
}

TEST(Sums, OfFewElementsAreBoundedByTheirNumber) {
  const Tensors x = {{0.1f, 0.7f, -0.3f}};
  const Bound bound = overAll("sum", x);
  EXPECT_NEAR(bound.value, double(0.1f) + double(0.7f) + double(-0.3f), 1e-15);
  EXPECT_LE(bound.bound, 2.01 * U * 1.1);
  EXPECT_GE(bound.bound, 1.99 * U * 1.1);
}

TEST(Sums, OfOneElementAreIt) {
  EXPECT_EQ(overAll("sum", {{0.1f}}).bound, 0);
  EXPECT_EQ(overAll("sum", {{0.1f}}).value, double(0.1f));
  // Tensors are never added in f32.
  EXPECT_LE(overAll("sum", {{0.1f}, {0.7f}}).bound, 0x1p-50);
}

TEST(Sums, OfWholeNumbersAreExact) {
  const Bound bound = overAll("sum", {Tensor(100000, 1), Tensor(70000, 3)});
  EXPECT_EQ(bound.value, 310000);
  EXPECT_EQ(bound.bound, 0);
  EXPECT_GT(overAll("sum", {Tensor(70000, 1001)}).bound, 0); // 65552*1001 > 2^24
}

TEST(Sums, OfNoNegativeNumberAreNone) {
  const Bound bound = overAll("sum", {Tensor(100000, 0x1p-149)});
  EXPECT_GE(bound.lo, 0);
}

TEST(Sums, OfDoublesAreBoundedInDoubles) {
  const Tensors x = normalNumbers({5000});
  const Bound bound = reduced("sum", "all", x, true).operands[0].tensors[0][0];
  EXPECT_LE(bound.bound, 3 * 5000 * 0x1p-53 * 5000);
  EXPECT_GT(bound.bound, 0);
}

TEST(Sums, OfInfinityAndNan) {
  auto only = [](const Bound &bound, double value) {
    return bound.lo == value && bound.hi == value && !bound.nan;
  };
  EXPECT_TRUE(only(overAll("sum", {{1, INF}, {2}}), INF));
  EXPECT_TRUE(only(overAll("sum", {{1, -INF}}), -INF));
  for (const Tensors &x :
       {Tensors{{1, NOT_A_NUMBER}}, Tensors{{INF}, {-INF}}, Tensors{{INF, NOT_A_NUMBER}}}) {
    const Bound bound = overAll("sum", x);
    EXPECT_TRUE(bound.nan && std::isnan(bound.lo) && std::isnan(bound.value));
  }
}

TEST(Sums, MayOverflowWherePartialSumsDo) {
  const Bound positive = overAll("sum", {{3e38f, 3e38f}});
  EXPECT_EQ(positive.hi, INF);
  EXPECT_LT(positive.lo, INF); // two pieces add in f64
  EXPECT_FALSE(positive.nan);
  const Bound mixed = overAll("sum", {{3e38f, 3e38f, -3e38f, -3e38f}});
  EXPECT_TRUE(mixed.nan && mixed.hi == INF && mixed.lo == -INF);
  EXPECT_LT(overAll("sum", {{3e38f}, {3e38f}}).hi, 6.1e38);
}

TEST(Extremes, AreExactAndPropagateNan) {
  const Tensors x = {{3, -7}, {5, 1}};
  EXPECT_EQ(overAll("max", x).value, 5);
  EXPECT_EQ(overAll("min", x).value, -7);
  for (const char *kind : {"max", "min"}) {
    EXPECT_EQ(overAll(kind, x).bound, 0);
    const Bound nan = overAll(kind, {{1, NOT_A_NUMBER}, {2}});
    EXPECT_TRUE(nan.nan && std::isnan(nan.lo));
  }
}

TEST(Reductions, OfNothing) {
  for (const Tensors &x : {Tensors{}, Tensors{{}}, Tensors{{}, {}}}) {
    EXPECT_EQ(overAll("sum", x).value, 0);
    EXPECT_EQ(overAll("max", x).value, -INF);
    EXPECT_EQ(overAll("min", x).value, INF);
    EXPECT_EQ(overAll("min", x).bound, 0);
  }
}

TEST(Reductions, KeepATensorOrAll) {
  const Tensors x = {{1, 2}, {}, {5}};
  const Evaluation kept = reduced("sum", "tensor", x);
  const double sums[] = {3, 0, 5};
  ASSERT_EQ(kept.operands[0].tensors.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(kept.operands[0].tensors[i].at(0).value, sums[i]);
  ASSERT_EQ(reduced("sum", "world", x).operands[0].tensors.size(), 1u);
  EXPECT_EQ(reduced("sum", "world", x).operands[0].tensors[0].at(0).value, 8);
}

TEST(Reductions, WaitForEachOther) {
  // The mean of each tensor, then the largest distance from it in all, then what is beyond h of
  // that.
  const std::string text =
      listModule(operand("x", "in", "element") + ", " + operand("y", "out", "element"),
                 R"(%x = fuse.read "x" : f32
    %sum = fuse.reduce sum keep <tensor> %x : f32 to f64
    %n = fuse.size <tensor>
    %m = arith.sitofp %n : i64 to f64
    %mean = arith.divf %sum, %m : f64
    %u = fuse.uniform %mean : f64 to f32
    %d = arith.subf %x, %u : f32
    %e = math.absf %d : f32
    %most = fuse.reduce max keep <all> %e : f32 to f64
    %h = fuse.scalar "h" : f64
    %limit = arith.mulf %h, %most : f64
    %l = fuse.uniform %limit : f64 to f32
    %y = arith.divf %d, %l : f32
    fuse.write "y", %y : f32)");
  const Evaluation result = *evaluated(text, {{{1, 3}, {10, 14, 30, 2}}, {}}, 0.5);
  const double want[2][4] = {{-1, 1}, {-4, 0, 16, -12}};
  for (size_t t = 0; t < 2; ++t)
    for (size_t i = 0; i < (t ? 4u : 2u); ++i) {
      const Bound &bound = result.operands[0].tensors[t].at(i);
      EXPECT_DOUBLE_EQ(bound.value, want[t][i] / 8);
      EXPECT_LE(bound.bound, 4 * U * 2);
    }
}

TEST(Reductions, RefuseBits) {
  TestModule module(elementModule(R"(%r = fuse.reduce sum keep <tensor> %a : f32 to f64
    %y = fuse.uniform %r : f64 to f32)"));
  auto refused = module.interpret({{"a", {1}}, {"b", {1}}, {"c", {1}}}, {0, 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      render(refused.error()),
      "expected an op without reductions for the bits of a kernel, got 'fuse.reduce'; the order "
      "of a reduction is the backend's; compare with the bounds");
}

TEST(Uniforms, AreReadAndWrittenOncePerTensorOrInAll) {
  // y = k*s*x + index;  k counts up per tensor, s is replaced by the number of all elements.
  const std::string text =
      listModule(operand("x", "in", "element") + ", " + operand("k", "state", "tensor") + ", " +
                     operand("s", "state", "all", "bf16") + ", " + operand("y", "out", "element"),
                 R"(%x = fuse.read "x" : f32
    %k = fuse.read "k" : f64
    %s = fuse.read "s" : f64
    %i = fuse.index
    %r = arith.sitofp %i : i64 to f64
    %p = arith.mulf %k, %s : f64
    %u = fuse.uniform %p : f64 to f32
    %v = fuse.uniform %r : f64 to f32
    %z = arith.mulf %u, %x : f32
    %y = arith.addf %z, %v : f32
    fuse.write "y", %y : f32
    %one = arith.constant 1.0 : f64
    %next = arith.addf %k, %one : f64
    fuse.write "k", %next : f64
    %n = fuse.size <all>
    %m = arith.sitofp %n : i64 to f64
    fuse.write "s", %m : f64)");
  const Evaluation result = *evaluated(text, {{{1, 2}, {}, {3}}, {{10}, {20}, {30}}, {{2}}, {}});
  const auto *k = result.find("k"), *s = result.find("s"), *y = result.find("y");
  for (size_t t = 0; t < 3; ++t)
    EXPECT_EQ(k->tensors.at(t).at(0).value, 10.0 * double(t + 1) + 1);
  ASSERT_EQ(s->tensors.size(), 1u);
  EXPECT_EQ(s->dtype, "bf16");
  EXPECT_EQ(s->tensors[0].at(0).value, 3);
  EXPECT_EQ(y->tensors[0][1].value, 40);
  EXPECT_EQ(y->tensors[2][0].value, 182);
}

TEST(Uniforms, OfAnOpOverScalars) {
  // s = if h > 0 then s/2 else s
  const std::string text = listModule(operand("s", "state", "all"), R"(%s = fuse.read "s" : f64
    %h = fuse.scalar "h" : f64
    %zero = arith.constant 0.0 : f64
    %two = arith.constant 2.0 : f64
    %t = arith.cmpf ogt, %h, %zero : f64
    %half = arith.divf %s, %two : f64
    %n = arith.select %t, %half, %s : f64
    fuse.write "s", %n : f64)",
                                      "scalars");
  EXPECT_EQ(evaluated(text, {{{3}}}, 1)->operands[0].tensors[0].at(0).value, 1.5);
  EXPECT_EQ(evaluated(text, {{{3}}}, 0)->operands[0].tensors[0].at(0).value, 3);
}

TEST(Uniforms, WrongDataIsRefused) {
  const std::string text =
      listModule(operand("x", "in", "element") + ", " + operand("s", "in", "all") + ", " +
                     operand("k", "state", "tensor"),
                 R"(%s = fuse.read "s" : f64
    %k = fuse.read "k" : f64
    %p = arith.mulf %k, %s : f64
    fuse.write "k", %p : f64)");
  auto error = [&](const std::vector<Tensors> &data) {
    auto result = evaluated(text, data);
    return result ? "accepted" : result.error().text;
  };
  EXPECT_EQ(error({{{1}, {2}}, {{1}}, {{1}, {2}}}), "accepted");
  EXPECT_EQ(error({{{1}, {2}}, {{1}, {2}}, {{1}, {2}}}),
            "expected 1 tensors of operand 's', got 2");
  EXPECT_EQ(error({{{1}, {2}}, {{1, 2}}, {{1}, {2}}}),
            "expected 1 elements in tensor 0 of operand 's', got 2");
  EXPECT_EQ(error({{{1}, {2}}, {{1}}, {{1}}}), "expected 2 tensors of operand 'k', got 1");
}

/// p is replaced by p/2 and n by the sum of squares of p, unless that is not finite or above
/// `limit`.
std::string guardedModule(double limit) {
  return listModule(operand("p", "param", "element", "f16") + ", " + operand("n", "out", "all") +
                        ", " + operand("k", "state", "tensor"),
                    R"(%p = fuse.read "p" : f32
    %q = arith.mulf %p, %p : f32
    %n = fuse.reduce sum keep <all> %q : f32 to f64
    %limit = arith.constant )" +
                        std::to_string(limit) + R"( : f64
    %skip = arith.cmpf ugt, %n, %limit : f64
    fuse.skip_if %skip
    fuse.write "n", %n : f64
    fuse.write "k", %n : f64
    %half = arith.constant 0.5 : f32
    %r = arith.mulf %p, %half : f32
    fuse.write "p", %r : f32)");
}

TEST(SkippedRuns, LeaveAllButReportsAsTheyAre) {
  const Evaluation result = *evaluated(guardedModule(4), {{{3, 1}, {2}}, {}, {{7}, {8}}});
  EXPECT_EQ(result.find("n")->tensors[0].at(0).value, 14);
  EXPECT_EQ(result.find("p")->tensors[0].at(0).value, 3);
  EXPECT_EQ(result.find("p")->tensors[1].at(0).bound, 0);
  EXPECT_EQ(result.find("k")->tensors[1].at(0).value, 8);
}

TEST(SkippedRuns, AreThoseWhoseConditionHolds) {
  const Evaluation result = *evaluated(guardedModule(20), {{{3, 1}, {2}}, {}, {{7}, {8}}});
  EXPECT_EQ(result.find("p")->tensors[0].at(0).value, 1.5);
  EXPECT_EQ(result.find("k")->tensors[1].at(0).value, 14);
  const Evaluation nan = *evaluated(guardedModule(20), {{{3, NOT_A_NUMBER}}, {}, {{7}}});
  EXPECT_EQ(nan.find("p")->tensors[0].at(0).value, 3);
  EXPECT_TRUE(std::isnan(nan.find("p")->tensors[0].at(1).value));
  EXPECT_TRUE(std::isnan(nan.find("n")->tensors[0].at(0).value));
}

TEST(SkippedRuns, AreBothWhereItIsNotDecided) {
  // 0.1f + 0.7f lies between two f32 on either side of 0.8.
  const std::string text = R"(%p = fuse.read "p" : f32
    %n = fuse.reduce sum keep <all> %p : f32 to f64
    %limit = arith.constant 0.8 : f64
    %skip = arith.cmpf ogt, %n, %limit : f64
    fuse.skip_if %skip
    %two = arith.constant 2.0 : f32
    %r = arith.mulf %p, %two : f32
    fuse.write "p", %r : f32)";
  const Evaluation both =
      *evaluated(listModule(operand("p", "param", "element"), text), {{{0.1f, 0.7f}}});
  const Bound &first = both.operands[0].tensors[0].at(0);
  EXPECT_EQ(first.lo, double(0.1f));
  EXPECT_NEAR(first.hi, 0.2, 1e-6);
  EXPECT_NEAR(first.bound, 0.1, 1e-6);
}

TEST(SkippedRuns, OfSumsThatOverflowAreDecided) {
  const std::string text = listModule(operand("p", "param", "element"),
                                      R"(%p = fuse.read "p" : f32
    %q = arith.mulf %p, %p : f32
    %n = fuse.reduce sum keep <all> %q : f32 to f64
    %finite = math.isfinite %n : f64
    %yes = arith.constant true
    %skip = arith.xori %finite, %yes : i1
    fuse.skip_if %skip
    fuse.write "p", %q : f32)");
  for (double big : {1e30, INF, NOT_A_NUMBER}) {
    const Evaluation skipped = *evaluated(text, {{{float(big), 3}}});
    EXPECT_EQ(skipped.operands[0].tensors[0].at(1).value, 3) << big;
    EXPECT_EQ(skipped.operands[0].tensors[0].at(1).bound, 0) << big;
  }
  EXPECT_EQ(evaluated(text, {{{1e10f, 3}}})->operands[0].tensors[0].at(1).value, 9);
}

} // namespace
} // namespace fw::evaluator::test
