// Norms over rows against loops in double, and loops in float against their bounds.
#include "tests/axes/Evaluated.h"

using namespace axes;

namespace {

/// Mean and inverse deviation of a row in the arithmetic of T.
template <class T> std::pair<T, T> moments(const double *x, size_t n, T eps) {
  T sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i)
    sum += T(x[i]);
  const T mean = sum / T(n);
  for (size_t i = 0; i < n; ++i)
    squares += (T(x[i]) - mean) * (T(x[i]) - mean);
  return {mean, T(1) / std::sqrt(squares / T(n) + eps)};
}

template <class T>
Numbers layerNorm(const Numbers &x, const Numbers &w, const Numbers &b, size_t n, T eps) {
  Numbers y;
  for (size_t row = 0; row * n < x.size(); ++row) {
    auto [mean, rstd] = moments<T>(&x[row * n], n, eps);
    for (size_t i = 0; i < n; ++i)
      y.push_back(double((T(x[row * n + i]) - mean) * rstd * T(w[i]) + T(b[i])));
  }
  return y;
}

template <class T> Numbers rmsNorm(const Numbers &x, const Numbers &w, size_t n, T eps) {
  Numbers y;
  for (size_t row = 0; row * n < x.size(); ++row) {
    T squares = 0;
    for (size_t i = 0; i < n; ++i)
      squares += T(x[row * n + i]) * T(x[row * n + i]);
    const T rstd = T(1) / std::sqrt(squares / T(n) + eps);
    for (size_t i = 0; i < n; ++i)
      y.push_back(double(T(x[row * n + i]) * rstd * T(w[i])));
  }
  return y;
}

constexpr float kEps = 1e-5f; // as a launch rounds it

} // namespace

TEST(LayerNorm, IsItsEquations) {
  for (size_t n : {1u, 2u, 7u, 64u, 257u}) {
    Evaluated op("layer_norm");
    const Shape x = {3, int64_t(n)}, column = {int64_t(n)}, row = {3};
    op.set("x", x, wavy(3 * n)).set("w", column, wavy(n, 1)).set("b", column, wavy(n, 2));
    op.set("y", x).set("mean", row).set("rstd", row);
    ASSERT_EQ(op.run(), "");
    const Numbers in = op.stored("x"), w = op.stored("w"), b = op.stored("b");
    // One element alone has no deviation: its bound is that of x - mean, times 1/sqrt(eps).
    expectClosedForm(op, "y", layerNorm<double>(in, w, b, n, kEps), n < 3 ? 1 : 1e-3);
    expectWithin(op, "y", layerNorm<float>(in, w, b, n, kEps));
    Numbers means, deviations;
    for (size_t r = 0; r < 3; ++r) {
      auto [mean, rstd] = moments<double>(&in[r * n], n, kEps);
      means.push_back(mean), deviations.push_back(rstd);
    }
    expectClosedForm(op, "mean", means);
    expectClosedForm(op, "rstd", deviations, n < 3 ? 1 : 1e-3);
  }
}

TEST(LayerNorm, AbsentOperandsAreNeutral) {
  Evaluated op("layer_norm", {.absent = {"w", "b"}});
  op.set("x", {2, 5}, wavy(10)).set("y", {2, 5}).set("mean", {2}).set("rstd", {2});
  ASSERT_EQ(op.run(), "");
  expectClosedForm(op, "y",
                   layerNorm<double>(op.stored("x"), Numbers(5, 1), Numbers(5, 0), 5, kEps));
}

TEST(LayerNorm, TakesAnyNumberOfDimensionsAsRows) {
  for (const Shape &rows : {Shape{}, Shape{4}, Shape{2, 2}, Shape{2, 1, 2, 1}}) {
    Evaluated op("layer_norm", {.absent = {"w", "b"}});
    Shape x = rows;
    x.push_back(6);
    op.set("x", x, wavy(count(x))).set("y", x).set("mean", rows).set("rstd", rows);
    ASSERT_EQ(op.run(), "");
    expectClosedForm(op, "y",
                     layerNorm<double>(op.stored("x"), Numbers(6, 1), Numbers(6, 0), 6, kEps));
  }
}

TEST(LayerNorm, LowPrecisionIsRoundedOnce) {
  for (const char *dtype : {"bf16", "f16"}) {
    Evaluated op("layer_norm", {.dtypes = {{"in", dtype}}, .absent = {"w", "b"}});
    op.set("x", {2, 40}, wavy(80)).set("y", {2, 40}).set("mean", {2}).set("rstd", {2});
    ASSERT_EQ(op.run(), "");
    const Numbers expected =
        layerNorm<double>(op.stored("x"), Numbers(40, 1), Numbers(40, 0), 40, kEps);
    expectClosedForm(op, "y", expected, 1e-2);
    const fw::Dtype &storage = *fw::findDtype(dtype);
    Numbers rounded;
    for (double y : expected)
      rounded.push_back(fw::evaluator::roundTo(storage, y));
    expectWithin(op, "y", rounded);
  }
}

TEST(LayerNorm, RowsWithoutColumnsAndNoRowsAreNothing) {
  Evaluated op("layer_norm", {.absent = {"w", "b"}});
  op.set("x", {2, 0}).set("y", {2, 0}).set("mean", {2}).set("rstd", {2});
  ASSERT_EQ(op.run(), "");
  EXPECT_TRUE(std::isnan(op.values("mean")[1])); // 0/0
  op.set("x", {0, 5}).set("y", {0, 5}).set("mean", {0}).set("rstd", {0});
  ASSERT_EQ(op.run(), "");
  EXPECT_TRUE(op.values("y").empty());
}

TEST(RmsNorm, IsItsEquations) {
  for (size_t n : {1u, 3u, 50u, 129u}) {
    Evaluated op("rms_norm");
    const Shape x = {2, int64_t(n)};
    op.set("x", x, wavy(2 * n)).set("w", {int64_t(n)}, wavy(n, 1)).set("y", x).set("rstd", {2});
    ASSERT_EQ(op.run(), "");
    const Numbers in = op.stored("x"), w = op.stored("w");
    expectClosedForm(op, "y", rmsNorm<double>(in, w, n, kEps));
    expectWithin(op, "y", rmsNorm<float>(in, w, n, kEps));
  }
}

TEST(L2Normalize, IsItsEquations) {
  Evaluated op("l2_normalize");
  Numbers x = wavy(12);
  std::fill(x.begin() + 4, x.begin() + 8, 0.0); // a row of zeros stays one
  op.set("x", {3, 4}, x).set("y", {3, 4}).set("norm", {3});
  ASSERT_EQ(op.run(), "");
  const Numbers in = op.stored("x");
  Numbers expected;
  for (size_t row = 0; row < 3; ++row) {
    double squares = 0;
    for (size_t i = 0; i < 4; ++i)
      squares += in[4 * row + i] * in[4 * row + i];
    for (size_t i = 0; i < 4; ++i)
      expected.push_back(in[4 * row + i] / std::max(std::sqrt(squares), double(1e-12f)));
  }
  expectClosedForm(op, "y", expected);
}

namespace {

/// d(sum(dy*f(x)))/dx[i] by central differences of f in double.
template <class F> Numbers differences(const Numbers &x, const Numbers &dy, F f) {
  Numbers out;
  for (size_t i = 0; i < x.size(); ++i) {
    double slope = 0;
    const double h = 1e-5;
    for (double side : {-1.0, 1.0}) {
      Numbers moved = x;
      moved[i] += side * h;
      const Numbers y = f(moved);
      for (size_t k = 0; k < y.size(); ++k)
        slope += side * dy[k] * y[k] / (2 * h);
    }
    out.push_back(slope);
  }
  return out;
}

void expectSlopes(Evaluated &op, const Numbers &slopes) {
  for (size_t i = 0; i < slopes.size(); ++i)
    EXPECT_NEAR(op.values("dx")[i], slopes[i], 1e-5 * (1 + std::abs(slopes[i]))) << i;
}

} // namespace

TEST(LayerNormBackward, IsTheSlopeOfTheForward) {
  const size_t n = 9;
  const Numbers x = wavy(2 * n), w = wavy(n, 1), dy = wavy(2 * n, 2);
  Numbers mean, rstd;
  for (size_t r = 0; r < 2; ++r) {
    auto [m, s] = moments<double>(&x[r * n], n, kEps);
    mean.push_back(m), rstd.push_back(s);
  }
  Evaluated op("layer_norm_backward",
               {.dtypes = {{"in", "f64"}, {"row", "f64"}, {"column", "f64"}}});
  op.set("x", {2, 9}, x).set("dy", {2, 9}, dy).set("mean", {2}, mean).set("rstd", {2}, rstd);
  op.set("w", {9}, w).set("dx", {2, 9});
  ASSERT_EQ(op.run(), "");
  expectSlopes(op, differences(x, dy, [&](const Numbers &at) {
                 return layerNorm<double>(at, w, Numbers(n, 0), n, kEps);
               }));
}

TEST(RmsNormBackward, IsTheSlopeOfTheForward) {
  const size_t n = 9;
  const Numbers x = wavy(2 * n), w = wavy(n, 1), dy = wavy(2 * n, 2);
  for (bool offset : {false, true}) {
    Numbers weight = w, rstd;
    for (double &each : weight)
      each += offset;
    for (size_t r = 0; r < 2; ++r) {
      double squares = 0;
      for (size_t i = 0; i < n; ++i)
        squares += x[r * n + i] * x[r * n + i];
      rstd.push_back(1 / std::sqrt(squares / double(n) + kEps));
    }
    Evaluated op("rms_norm_backward",
                 {.options = {{"unit_offset", offset ? "true" : "false"}},
                  .dtypes = {{"in", "f64"}, {"row", "f64"}, {"column", "f64"}}});
    op.set("x", {2, 9}, x).set("dy", {2, 9}, dy).set("rstd", {2}, rstd);
    op.set("w", {9}, w).set("dx", {2, 9});
    ASSERT_EQ(op.run(), "");
    expectSlopes(op, differences(x, dy, [&](const Numbers &at) {
                   return rmsNorm<double>(at, weight, n, kEps);
                 }));
  }
}

TEST(Norms, AnyWidthUpToAHundredThousand) {
  for (int64_t n : {1, 13, 1023, 1025, 131072}) {
    Evaluated op("rms_norm", {.dtypes = {{"in", "bf16"}}, .absent = {"w"}});
    op.set("x", {1, n}, wavy(size_t(n))).set("y", {1, n}).set("rstd", {1});
    ASSERT_EQ(op.run(), "");
    expectClosedForm(op, "y",
                     rmsNorm<double>(op.stored("x"), Numbers(size_t(n), 1), size_t(n), kEps), 1e-2);
  }
}
