// Norms with what models put around them: residuals, dropout, outputs of few bits, gradients from
// outputs. Each against what its parts give one by one.
#include "tests/axes/Evaluated.h"

#include <numeric>

using namespace axes;

namespace {

constexpr int64_t kRows = 3, kColumns = 21;
const Shape kAll = {kRows, kColumns}, kRow = {kRows}, kColumn = {kColumns};

Numbers all(double phase, double scale = 1) { return wavy(size_t(kRows * kColumns), phase, scale); }
Numbers ofColumns(double phase) { return wavy(size_t(kColumns), phase); }

/// Evaluates layer_norm or rms_norm of x.
Evaluated norm(const std::string &name, const Numbers &x, const Numbers &w,
               const Choices &choices = {}) {
  Evaluated op(name, choices);
  op.set("x", kAll, x).set("w", kColumn, w).set("y", kAll).set("rstd", kRow);
  if (name == "layer_norm")
    op.set("b", kColumn, ofColumns(5)).set("mean", kRow);
  EXPECT_EQ(op.run(), "");
  return op;
}

void expectNear(const Numbers &produced, const Numbers &expected, double within) {
  ASSERT_EQ(produced.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(produced[i], expected[i], within * (1 + std::abs(expected[i]))) << i;
}

} // namespace

/// case G09's other half: what is rounded before the weight is so, and what is not is not.
TEST(FusedNorms, NarrowRoundsBeforeTheWeight) {
  const fw::Dtype &bf16 = *fw::findDtype("bf16");
  for (const char *name : {"layer_norm", "rms_norm"}) {
    const Numbers x = all(1), w = ofColumns(2), ones(size_t(kColumns), 1);
    Evaluated plain(name, {.absent = name[0] == 'l' ? std::set<std::string>{"w", "b"}
                                                    : std::set<std::string>{"w"}});
    plain.set("x", kAll, x).set("y", kAll).set("rstd", kRow);
    if (name[0] == 'l')
      plain.set("mean", kRow);
    ASSERT_EQ(plain.run(), "");
    Evaluated narrow = norm(name, x, w, {.options = {{"narrow", "bf16"}}});
    const Numbers weights = narrow.stored("w"), bias = name[0] == 'l' ? narrow.stored("b") : ones;
    Numbers expected;
    for (size_t i = 0; i < x.size(); ++i)
      expected.push_back(fw::evaluator::roundTo(bf16, plain.values("y")[i]) *
                             weights[i % size_t(kColumns)] +
                         (name[0] == 'l' ? bias[i % size_t(kColumns)] : 0));
    expectNear(narrow.values("y"), expected, 1e-9);
  }
}

TEST(FusedNorms, GradientsFromTheOutputAreThoseFromTheInput) {
  for (const char *name : {"layer_norm", "rms_norm"}) {
    const bool isLayer = name[0] == 'l';
    const Numbers x = all(1), dy = all(2);
    Numbers w = ofColumns(3);
    for (double &each : w)
      each += each < 0 ? -0.25 : 0.25; // nothing is clamped
    Evaluated forward = norm(name, x, w);
    Evaluated fromX(std::string(name) + "_backward"), fromY(std::string(name) + "_backward_from_y");
    fromX.set("x", kAll, x).set("dy", kAll, dy).set("w", kColumn, w).set("dx", kAll);
    fromY.set("y", kAll, forward.values("y")).set("dy", kAll, dy).set("w", kColumn, w);
    fromY.set("dx", kAll);
    for (Evaluated *op : {&fromX, &fromY})
      op->set("rstd", kRow, forward.values("rstd"));
    if (isLayer) {
      fromX.set("mean", kRow, forward.values("mean"));
      fromY.set("b", kColumn, ofColumns(5));
    }
    ASSERT_EQ(fromX.run(), "");
    ASSERT_EQ(fromY.run(), "");
    expectNear(fromY.values("dx"), fromX.values("dx"), 1e-5);
  }
}

TEST(FusedNorms, AWeightNextToNothingIsClamped) {
  for (auto [w, divisor] : {std::pair(0.0, 1e-5),
                            {-0.0, 1e-5},
                            {1e-7, 1e-5},
                            {-1e-7, -1e-5},
                            {0.5, 0.5},
                            {-0.5, -0.5}}) {
    Evaluated op("rms_norm_backward_from_y");
    op.set("y", {1, 2}, {1e-6, 0}).set("dy", {1, 2}, {0, 1}).set("w", {2}, {w, 1});
    op.set("rstd", {1}, {1}).set("dx", {1, 2});
    ASSERT_EQ(op.run(), "");
    EXPECT_NEAR(op.values("dx")[1], 1, 1e-12); // h of it is 0
    op.set("dy", {1, 2}, {1, 1});
    ASSERT_EQ(op.run(), "");
    const double h = 1e-6 / divisor;
    EXPECT_NEAR(op.values("dx")[0], w - h * (w * h / 2), 1e-6 * (1 + std::abs(h * h * w))) << w;
  }
}

TEST(FusedNorms, AResidualIsWrittenBackAndNormalizedAsItIsStored) {
  for (const char *name : {"layer_norm", "rms_norm"}) {
    Evaluated op("add_" + std::string(name),
                 {.dtypes = {{"in", "bf16"}, {"r2", "bf16"}, {"y", "f32"}}});
    op.set("x", kAll, all(1, 3)).set("r", kAll, all(2)).set("w", kColumn, ofColumns(3));
    op.set("y", kAll).set("r2", kAll).set("rstd", kRow);
    if (name[0] == 'l')
      op.set("b", kColumn, ofColumns(5)).set("mean", kRow);
    op.expectLaunchWithinBounds();
    const Numbers x = op.stored("x"), r = op.stored("r"), r2 = op.stored("r2");
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(r2[i], fw::evaluator::roundTo(*fw::findDtype("bf16"), x[i] + r[i])) << i;
    Evaluated alone = norm(name, r2, ofColumns(3));
    expectNear(op.stored("y"), alone.values("y"), 1e-4);
    expectNear(op.stored("rstd"), alone.values("rstd"), 1e-4);
  }
}

TEST(FusedNorms, TheBackwardDropsWhatTheForwardHas) {
  for (const char *name : {"layer_norm", "rms_norm"}) {
    const bool isLayer = name[0] == 'l';
    Evaluated forward("dropout_add_" + std::string(name));
    forward.set("x", kAll, Numbers(size_t(kRows * kColumns), 1)).set("r", kAll, all(2));
    forward.set("w", kColumn, ofColumns(3)).set("y", kAll).set("r2", kAll).set("rstd", kRow);
    if (isLayer)
      forward.set("b", kColumn, ofColumns(5)).set("mean", kRow);
    Evaluated back("dropout_add_" + std::string(name) + "_backward");
    for (Evaluated *op : {&forward, &back})
      op->scalar("seed", 7).scalar("offset", 9).scalar("rate", 0.5);
    forward.expectLaunchWithinBounds();
    back.set("r2", kAll, forward.stored("r2")).set("dy", kAll, all(4)).set("dr2", kAll, all(6));
    back.set("rstd", kRow, forward.stored("rstd")).set("w", kColumn, ofColumns(3));
    back.set("dx", kAll).set("dr", kAll);
    if (isLayer)
      back.set("mean", kRow, forward.stored("mean"));
    back.expectLaunchWithinBounds();
    const Numbers r = forward.stored("r"), r2 = forward.stored("r2"), dx = back.stored("dx"),
                  dr = back.stored("dr");
    size_t kept = 0;
    for (size_t i = 0; i < r.size(); ++i) {
      const bool isKept = std::abs(r2[i] - r[i] - 2) < 1e-5; // 1/(1 - rate)
      EXPECT_TRUE(isKept || r2[i] == r[i]) << i;
      EXPECT_EQ(dx[i], isKept ? 2 * dr[i] : 0) << i;
      kept += isKept;
    }
    EXPECT_GT(kept, size_t(kRows * kColumns / 4));
    EXPECT_LT(kept, size_t(kRows * kColumns * 3 / 4));
    // What the norm alone gives, and what came from behind.
    Evaluated part(std::string(name) + "_backward");
    part.set("x", kAll, r2).set("dy", kAll, all(4)).set("rstd", kRow, forward.stored("rstd"));
    part.set("w", kColumn, ofColumns(3)).set("dx", kAll);
    if (isLayer)
      part.set("mean", kRow, forward.stored("mean"));
    ASSERT_EQ(part.run(), "");
    Numbers expected = part.values("dx");
    const Numbers dr2 = back.stored("dr2");
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += dr2[i];
    expectNear(dr, expected, 1e-4);
  }
}

TEST(FusedNorms, QuantizedRowsReachTheLargestNumber) {
  for (const char *dtype : {"e4m3fn", "e5m2"}) {
    const double largest = fw::findDtype(dtype)->largest;
    Evaluated op("rms_norm_quantized", {.dtypes = {{"y", dtype}}});
    op.set("x", kAll, all(1, 1e3)).set("w", kColumn, ofColumns(2)).set("y", kAll);
    op.set("rstd", kRow).set("scale", kRow);
    op.expectLaunchWithinBounds();
    Evaluated alone = norm("rms_norm", all(1, 1e3), ofColumns(2));
    const Numbers y = op.stored("y"), scale = op.stored("scale"), wide = alone.values("y");
    for (size_t row = 0; row < size_t(kRows); ++row) {
      double most = 0;
      for (size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
        most = std::max(most, std::abs(y[i]));
        EXPECT_NEAR(y[i] * scale[row], wide[i], std::abs(wide[i]) / 7 + scale[row] * 0.01);
      }
      EXPECT_EQ(most, largest);
    }
  }
  Evaluated zeros("quantize", {.dtypes = {{"y", "e4m3fn"}}});
  zeros.set("x", kAll, Numbers(size_t(kRows * kColumns), 0)).set("y", kAll).set("scale", kRow);
  zeros.expectLaunchWithinBounds();
  EXPECT_EQ(zeros.stored("y"), Numbers(size_t(kRows * kColumns), 0));
  EXPECT_EQ(zeros.stored("scale"), Numbers(size_t(kRows), 1));
}

TEST(FusedNorms, AValueInPlaceOfWhatIsLeftOut) {
  Evaluated op("masked_softmax", {.options = {{"left_out", "value"}}});
  const Shape scores = {1, 1, 2, 3};
  op.set("x", scores, {1, 2, 3, 1, 2, 3}).set("keep", scores, {1, 0, 1, 0, 0, 0});
  op.set("y", scores).scalar("value", -1);
  op.expectLaunchWithinBounds();
  const Numbers e = {std::exp(1), std::exp(-1), std::exp(3)};
  const double z = std::accumulate(e.begin(), e.end(), 0.0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(op.values("y")[i], e[i] / z, 1e-12);
    EXPECT_EQ(op.stored("y")[3 + i], 0) << "nothing is kept";
  }
}
