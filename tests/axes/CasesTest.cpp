// Handed cases of norms and softmaxes, as far as an evaluator shows them.
#include "tests/axes/Evaluated.h"

using namespace axes;

namespace {

/// Values of an op with one input row.
Numbers rowOf(const std::string &op, const Numbers &x, const Choices &choices,
              const std::map<std::string, double> &scalars = {}) {
  const Shape shape = {1, int64_t(x.size())};
  Evaluated evaluated(op, choices);
  evaluated.set("x", shape, x).set("y", shape);
  if (op == "layer_norm")
    evaluated.set("mean", {1});
  if (op != "softmax")
    evaluated.set("rstd", {1});
  for (auto &[name, value] : scalars)
    evaluated.scalar(name, value);
  EXPECT_EQ(evaluated.run(), "");
  return evaluated.values("y");
}

} // namespace

TEST(NormCases, case_G01_VarianceOfNumbersFarFromZero) {
  const std::pair<double, double> right[] = {
      {1000, -1.341508}, {100, -1.341528}, {10000, -1.331333}};
  for (auto [base, first] : right) {
    Numbers x;
    for (int i = 0; i < 16; ++i)
      x.push_back(base + i * 1e-3);
    const Numbers y = rowOf("layer_norm", x, {.absent = {"w", "b"}});
    EXPECT_NEAR(y[0], first, 5e-6) << base;
    if (base == 1000) {
      EXPECT_NEAR(y[15], 1.344237, 5e-6);
    }
  }
}

TEST(NormCases, case_G03_ATinyEpsOfHalfPrecisionRows) {
  for (double y : rowOf("layer_norm", Numbers(10, 0.0),
                        {.dtypes = {{"in", "f16"}}, .absent = {"w", "b"}}, {{"eps", 1e-12}}))
    EXPECT_EQ(y, 0);
}

TEST(NormCases, case_G05_HalfPrecisionIsTheWideResultRoundedOnce) {
  Numbers x;
  for (int i = 0; i < 128; ++i)
    x.push_back(0.1 * std::abs(std::sin(12.9898 * i)));
  auto evaluated = [&](const char *out) {
    Evaluated op("layer_norm", {.dtypes = {{"in", "f16"}, {"out", out}}, .absent = {"w", "b"}});
    op.set("x", {1, 128}, x).set("y", {1, 128}).set("mean", {1}).set("rstd", {1});
    EXPECT_EQ(op.run(), "");
    return std::pair(op.values("y"), op.bounds("y"));
  };
  const auto [narrow, narrowBounds] = evaluated("f16");
  const auto [wide, wideBounds] = evaluated("f32");
  EXPECT_EQ(narrow, wide);
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_LE(wideBounds[i], 1e-4 * (1 + std::abs(wide[i]))) << i;
    const double step = std::ldexp(1, std::max(std::ilogb(std::abs(wide[i]) + 1e-4), -14) - 10);
    EXPECT_LE(narrowBounds[i], wideBounds[i] + step / 2) << i;
  }
}

TEST(NormCases, case_G07_OneElementIsItsBias) {
  for (double weight : {1e10, 1e20, 1e30})
    for (const char *dtype : {"f32", "f64"}) {
      Evaluated op("layer_norm", {.dtypes = {{"in", dtype}, {"column", dtype}}});
      op.set("x", {1, 1}, {-3}).set("w", {1}, {weight}).set("b", {1}, {-1}).set("y", {1, 1});
      op.set("mean", {1}).set("rstd", {1}).scalar("eps", 0.1);
      ASSERT_EQ(op.run(), "");
      EXPECT_EQ(op.values("y")[0], -1);
      EXPECT_EQ(op.bounds("y")[0], 0) << "an average of one number is that number";
    }
}

TEST(NormCases, case_G09_TheOffsetIsAddedBeforeAnythingIsRounded) {
  Evaluated op("rms_norm", {.options = {{"unit_offset", "true"}}});
  op.set("x", {1, 2}, {1, 1}).set("w", {2}, {0, 0}).set("y", {1, 2}).set("rstd", {1});
  op.scalar("eps", 0);
  ASSERT_EQ(op.run(), "");
  EXPECT_NEAR(op.values("y")[0], 1, 1e-12);
  // 1 + 2^-9 is no bf16: rounded first it would be 1.
  Evaluated low("rms_norm", {.options = {{"unit_offset", "true"}},
                             .dtypes = {{"in", "bf16"}, {"column", "bf16"}}});
  low.set("x", {1, 2}, {1, 1}).set("w", {2}, {0x1p-9, 0}).set("y", {1, 2}).set("rstd", {1});
  low.scalar("eps", 0);
  ASSERT_EQ(low.run(), "");
  EXPECT_NEAR(low.values("y")[0], 1 + 0x1p-9, 1e-12);
}

TEST(NormCases, case_G11_EpsHasOneDefaultForEveryDtype) {
  for (const char *dtype : {"f32", "bf16", "f16"}) {
    const Numbers unset =
        rowOf("rms_norm", {1, 2, 3}, {.dtypes = {{"in", dtype}}, .absent = {"w"}});
    const Numbers given =
        rowOf("rms_norm", {1, 2, 3}, {.dtypes = {{"in", dtype}}, .absent = {"w"}}, {{"eps", 1e-5}});
    EXPECT_EQ(unset, given) << dtype;
  }
}

TEST(NormCases, case_I05_AnyWidth) {
  for (int64_t n : {1, 2, 3, 63, 1025, 5000, 131071, 131072}) {
    const Numbers y = rowOf("layer_norm", wavy(size_t(n)), {.absent = {"w", "b"}});
    double sum = 0;
    for (double each : y)
      sum += each;
    EXPECT_NEAR(sum, 0, 1e-6 * double(n)) << n;
  }
}

TEST(SoftmaxCases, case_J01_NothingKeptIsZeroForwardAndBackward) {
  Evaluated op("masked_softmax");
  op.set("x", {1, 1, 1, 4}, {1, 2, 3, 4}).set("keep", {1, 1, 1, 4}, {0, 0, 0, 0});
  op.set("y", {1, 1, 1, 4});
  ASSERT_EQ(op.run(), "");
  Evaluated back("softmax_backward");
  back.set("y", {1, 4}, op.values("y")).set("dy", {1, 4}, {1, -2, 3, 5}).set("dx", {1, 4});
  ASSERT_EQ(back.run(), "");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(op.values("y")[i], 0);
    EXPECT_EQ(op.bounds("y")[i], 0);
    EXPECT_EQ(back.values("dx")[i], 0);
  }
}

TEST(SoftmaxCases, case_J05_TheIncomingGradientStays) {
  const Numbers dy = wavy(6, 2);
  Evaluated back("softmax_backward");
  back.set("y", {1, 6}, Numbers(6, 1.0 / 6)).set("dy", {1, 6}, dy).set("dx", {1, 6});
  const Numbers before = back.stored("dy");
  ASSERT_EQ(back.run(), "");
  EXPECT_EQ(back.stored("dy"), before);
}

namespace {
double sumOfSoftmax(int64_t keys) {
  double sum = 0;
  for (double y : rowOf("softmax", wavy(size_t(keys)), {}))
    sum += y;
  return sum;
}
} // namespace

TEST(SoftmaxCases, case_J07_FiftyKeys) { EXPECT_NEAR(sumOfSoftmax(50), 1, 1e-12); }

TEST(SoftmaxCases, case_J11_FewKeysAndAnyNumberOfRows) {
  for (int64_t keys : {1, 3, 15})
    EXPECT_NEAR(sumOfSoftmax(keys), 1, 1e-12) << keys;
  Evaluated op("softmax");
  op.set("x", {7, 3, 5}, wavy(105)).set("y", {7, 3, 5});
  ASSERT_EQ(op.run(), "");
  for (size_t row = 0; row < 21; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 5; ++i)
      sum += op.values("y")[row * 5 + i];
    EXPECT_NEAR(sum, 1, 1e-12) << row;
  }
}

TEST(SoftmaxCases, case_J03_CausalWithoutAnUpperLimit) {
  const int64_t n = 2049;
  Evaluated op("causal_softmax");
  op.set("x", {1, 1, 2, n}, Numbers(size_t(2 * n), 0.5)).set("y", {1, 1, 2, n});
  ASSERT_EQ(op.run(), "");
  EXPECT_NEAR(op.values("y")[0], 1.0 / double(n - 1), 1e-12);
  EXPECT_EQ(op.values("y")[size_t(n - 1)], 0); // behind the first query
  EXPECT_NEAR(op.values("y")[size_t(2 * n - 1)], 1.0 / double(n), 1e-12);
}
