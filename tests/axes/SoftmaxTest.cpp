// Softmaxes against loops in double, and loops in float against their bounds.
#include "tests/axes/Evaluated.h"

#include <functional>
#include <limits>

using namespace axes;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of one row of scores; zeros where all are left out.
template <class T> void softmaxRow(const double *s, size_t n, Numbers &y) {
  T t = -std::numeric_limits<T>::infinity(), z = 0;
  for (size_t i = 0; i < n; ++i)
    t = std::max(t, T(s[i]));
  for (size_t i = 0; i < n; ++i)
    z += t == -std::numeric_limits<T>::infinity() ? T(0) : std::exp(T(s[i]) - t);
  for (size_t i = 0; i < n; ++i)
    y.push_back(z == 0 ? 0 : double(std::exp(T(s[i]) - t) / z));
}

template <class T = double> Numbers softmax(const Numbers &s, size_t n) {
  Numbers y;
  for (size_t row = 0; row * n < s.size(); ++row)
    softmaxRow<T>(&s[row * n], n, y);
  return y;
}

/// Attention scores of 2 batches, 3 heads, `q` queries and `k` keys.
struct Scores {
  int64_t q, k;
  Shape shape() const { return {2, 3, q, k}; }
  size_t size() const { return count(shape()); }

  /// What `score` makes of each, by batch, head, query and key.
  Numbers made(const std::function<double(int64_t, int64_t, int64_t, int64_t, double)> &score,
               const Numbers &x) const {
    Numbers out;
    size_t at = 0;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t i = 0; i < q; ++i)
          for (int64_t j = 0; j < k; ++j)
            out.push_back(score(b, h, i, j, x[at++]));
    return out;
  }
};

const double kScale = double(0.3f);

} // namespace

TEST(Softmax, IsItsEquations) {
  for (size_t n : {1u, 2u, 15u, 50u, 300u}) {
    Evaluated op("softmax");
    op.set("x", {2, int64_t(n)}, wavy(2 * n, 0, 5)).set("y", {2, int64_t(n)});
    ASSERT_EQ(op.run(), "");
    expectClosedForm(op, "y", softmax(op.stored("x"), n));
    expectWithin(op, "y", softmax<float>(op.stored("x"), n));
  }
}

TEST(Softmax, OfLargeScoresDoesNotOverflow) {
  Evaluated op("softmax");
  op.set("x", {1, 3}, {3e38, 3e38, -3e38}).set("y", {1, 3});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("y"), (Numbers{0.5, 0.5, 0}));
}

TEST(Softmax, ARowOfNothingIsZerosOnlyWhereItIsMasked) {
  for (bool masked : {false, true}) {
    Evaluated op("softmax", {.options = {{"masked", masked ? "true" : "false"}}});
    op.set("x", {2, 2}, {-kInfinity, -kInfinity, 1, -kInfinity}).set("y", {2, 2});
    ASSERT_EQ(op.run(), "");
    for (size_t i : {0u, 1u})
      if (masked)
        EXPECT_EQ(op.values("y")[i], 0);
      else
        EXPECT_TRUE(std::isnan(op.values("y")[i]));
    EXPECT_EQ(op.values("y")[2], 1);
    EXPECT_EQ(op.values("y")[3], 0);
    EXPECT_EQ(op.bounds("y")[3], 0);
  }
}

TEST(Softmax, NanStaysInItsRow) {
  Evaluated op("softmax", {.options = {{"masked", "true"}}});
  op.set("x", {2, 2}, {std::nan(""), 1, 0, 0}).set("y", {2, 2});
  ASSERT_EQ(op.run(), "");
  EXPECT_TRUE(std::isnan(op.values("y")[0]) && std::isnan(op.values("y")[1]));
  EXPECT_EQ(op.values("y")[2], 0.5);
}

TEST(LogSoftmax, IsItsEquations) {
  const size_t n = 33;
  Evaluated op("log_softmax");
  op.set("x", {2, 33}, wavy(2 * n, 0, 4)).set("y", {2, 33});
  ASSERT_EQ(op.run(), "");
  Numbers expected;
  for (double y : softmax(op.stored("x"), n))
    expected.push_back(std::log(y));
  expectClosedForm(op, "y", expected);
}

TEST(SoftmaxBackward, IsTheJacobianTimesTheGradient) {
  const size_t n = 11;
  const Numbers y = softmax(wavy(2 * n), n), dy = wavy(2 * n, 2);
  Evaluated op("softmax_backward", {.dtypes = {{"in", "f64"}}});
  op.set("y", {2, 11}, y).set("dy", {2, 11}, dy).set("dx", {2, 11}).scalar("scale", 0.25);
  ASSERT_EQ(op.run(), "");
  Numbers expected;
  for (size_t r = 0; r < 2; ++r)
    for (size_t i = 0; i < n; ++i) {
      double slope = 0;
      for (size_t k = 0; k < n; ++k)
        slope += dy[r * n + k] * y[r * n + k] * ((i == k) - y[r * n + i]);
      expected.push_back(0.25 * slope);
    }
  expectClosedForm(op, "dx", expected, 1e-12);
}

TEST(LogSoftmaxBackward, IsTheJacobianTimesTheGradient) {
  const size_t n = 11;
  const Numbers y = softmax(wavy(2 * n), n), dy = wavy(2 * n, 2);
  Numbers logs;
  for (double each : y)
    logs.push_back(std::log(each));
  Evaluated op("log_softmax_backward", {.dtypes = {{"in", "f64"}}});
  op.set("y", {2, 11}, logs).set("dy", {2, 11}, dy).set("dx", {2, 11});
  ASSERT_EQ(op.run(), "");
  Numbers expected;
  for (size_t r = 0; r < 2; ++r)
    for (size_t i = 0; i < n; ++i) {
      double slope = 0;
      for (size_t k = 0; k < n; ++k)
        slope += dy[r * n + k] * ((i == k) - y[r * n + i]);
      expected.push_back(slope);
    }
  expectClosedForm(op, "dx", expected, 1e-12);
}

TEST(MaskedSoftmax, KeepsWhatTheMaskSays) {
  const Scores scores{4, 6};
  Numbers keep; // of a batch, a query and a key, for all heads; one query keeps nothing
  for (int i = 0; i < 2 * 4 * 6; ++i)
    keep.push_back(i % 3 != 1 && i / 6 != 5);
  Evaluated op("masked_softmax");
  EXPECT_EQ(op.scopeOf("keep"), "[batch, 1, query, key]");
  op.set("x", scores.shape(), wavy(scores.size(), 0, 3)).set("y", scores.shape());
  op.set("keep", {2, 1, 4, 6}, keep).scalar("scale", 0.3);
  ASSERT_EQ(op.run(), "");
  const Numbers s = scores.made(
      [&](int64_t b, int64_t, int64_t i, int64_t j, double x) {
        return keep[size_t((b * 4 + i) * 6 + j)] != 0 ? kScale * x : -kInfinity;
      },
      op.stored("x"));
  expectClosedForm(op, "y", softmax(s, 6));
  expectWithin(op, "y", softmax<float>(s, 6));
}

TEST(BiasedSoftmax, AddsTheBias) {
  const Scores scores{3, 5};
  Numbers bias = wavy(2 * 3 * 5, 1);
  bias[0] = bias[7] = -kInfinity;
  for (int j = 10; j < 15; ++j)
    bias[size_t(j)] = -kInfinity;
  Evaluated op("biased_softmax");
  op.set("x", scores.shape(), wavy(scores.size())).set("y", scores.shape());
  op.set("bias", {2, 1, 3, 5}, bias).scalar("scale", 0.3);
  ASSERT_EQ(op.run(), "");
  const Numbers stored = op.stored("bias");
  const Numbers s =
      scores.made([&](int64_t b, int64_t, int64_t i, int64_t j,
                      double x) { return kScale * x + stored[size_t((b * 3 + i) * 5 + j)]; },
                  op.stored("x"));
  expectClosedForm(op, "y", softmax(s, 5));
}

TEST(CausalSoftmax, SeesNoKeyBehindTheQuery) {
  for (const Scores &scores : {Scores{4, 4}, Scores{3, 7}, Scores{7, 3}})
    for (bool atStart : {false, true}) {
      Evaluated op("causal_softmax", {.options = {{"align", atStart ? "start" : "end"}}});
      op.set("x", scores.shape(), wavy(scores.size())).set("y", scores.shape());
      op.scalar("scale", 0.3);
      ASSERT_EQ(op.run(), "");
      const int64_t shift = atStart ? 0 : scores.k - scores.q;
      const Numbers s =
          scores.made([&](int64_t, int64_t, int64_t i, int64_t j,
                          double x) { return j <= i + shift ? kScale * x : -kInfinity; },
                      op.stored("x"));
      expectClosedForm(op, "y", softmax(s, size_t(scores.k)));
    }
}

TEST(WindowSoftmax, SeesTheLastKeys) {
  const Scores scores{5, 9};
  for (int window : {1, 3, 100}) {
    Evaluated op("window_softmax");
    op.set("x", scores.shape(), wavy(scores.size())).set("y", scores.shape());
    op.scalar("scale", 0.3).scalar("window", window);
    ASSERT_EQ(op.run(), "");
    const Numbers s = scores.made(
        [&](int64_t, int64_t, int64_t i, int64_t j, double x) {
          const int64_t d = i + 4 - j;
          return d >= 0 && d < window ? kScale * x : -kInfinity;
        },
        op.stored("x"));
    expectClosedForm(op, "y", softmax(s, 9));
  }
}

TEST(AlibiSoftmax, LowersWhatIsFar) {
  const Scores scores{4, 6};
  Evaluated op("alibi_softmax");
  op.set("x", scores.shape(), wavy(scores.size())).set("y", scores.shape());
  op.set("slope", {3}, {0.5, 0.25, 0.125}).scalar("scale", 0.3);
  ASSERT_EQ(op.run(), "");
  const Numbers slope = op.stored("slope");
  const Numbers s = scores.made(
      [&](int64_t, int64_t h, int64_t i, int64_t j, double x) {
        const double d = double(i + 2 - j);
        return d >= 0 ? kScale * x - slope[size_t(h)] * d : -kInfinity;
      },
      op.stored("x"));
  expectClosedForm(op, "y", softmax(s, 6));
}
