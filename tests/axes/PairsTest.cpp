// Pairs that a kernel reduces about references of its own - a thread's, a warp's, the row's - stay
// within the bounds of the text, which has one reference.
#include "tests/axes/Evaluated.h"

#include <functional>

using namespace axes;

namespace {

/// What some elements were reduced to: a reference, its sum, and the sum made about it.
struct Partial {
  float reference = 0, sum = 0, about = 0, count = 0;
};

/// How two partials become one, and what one element is about a reference.
struct PairForm {
  std::function<float(const Partial &)> settle; ///< the reference of all elements in `sum`
  std::function<float(float, float)> refer;     ///< merges an element into `sum`
  float neutral;
  std::function<float(float, float)> map;             ///< an element about a reference
  std::function<float(const Partial &, float)> moved; ///< `about` about another reference
};

/// The worst that the hardware's exponential may do, by turns to either side.
float fastExp(float x) {
  static int turn = 0;
  const float y = std::exp2(x * 1.44269504f);
  if (y < 0x1p-126f)
    return 0;
  return ++turn % 2 ? y * (1 + 0x1p-23f) : y * (1 - 0x1p-23f);
}

PairForm exponentials() {
  const auto finite = [](float t) { return std::isinf(t) ? 0.0f : t; };
  return {[](const Partial &p) { return p.sum; }, [](float a, float b) { return std::max(a, b); },
          -INFINITY, [=](float x, float t) { return fastExp(x - finite(t)); },
          [](const Partial &p, float to) {
            return std::isinf(p.reference) ? 0.0f : p.about * fastExp(p.reference - to);
          }};
}

PairForm moments() {
  return {[](const Partial &p) { return p.count == 0 ? 0.0f : p.sum / p.count; },
          [](float a, float b) { return a + b; }, 0,
          [](float x, float m) { return (x - m) * (x - m); },
          [](const Partial &p, float to) {
            const float d = p.reference - to;
            return std::fma(d * d, p.count, p.about);
          }};
}

/// A level: lanes, or warps, make one of their partials.
Partial merge(const PairForm &form, const std::vector<Partial> &parts) {
  Partial all;
  all.sum = form.neutral;
  for (const Partial &part : parts)
    all.sum = form.refer(all.sum, part.sum), all.count += part.count;
  all.reference = form.settle(all);
  for (const Partial &part : parts)
    all.about += form.moved(part, all.reference);
  return all;
}

/// A row as threads reduce it, that take `vec` elements by turns and `each` of them in a step.
Partial reduceRow(const PairForm &form, const Numbers &x, size_t threads, size_t vec, size_t each) {
  std::vector<Partial> lanes(threads);
  for (size_t thread = 0; thread < threads; ++thread) {
    Partial &mine = lanes[thread];
    mine.sum = form.neutral;
    for (size_t from = 0; from < x.size(); from += threads * each) {
      const size_t to = std::min(x.size(), from + threads * each);
      const Partial before = mine;
      const auto own = [&](auto visit) {
        for (size_t i = from; i < to; ++i)
          if (i / vec % threads == thread)
            visit(float(x[i]));
      };
      own([&](float v) { mine.sum = form.refer(mine.sum, v), mine.count += 1; });
      mine.reference = form.settle(mine);
      if (from > 0)
        mine.about = form.moved(before, mine.reference);
      own([&](float v) { mine.about += form.map(v, mine.reference); });
    }
  }
  std::vector<Partial> warps;
  for (size_t first = 0; first < threads; first += 32)
    warps.push_back(merge(
        form, {lanes.begin() + long(first), lanes.begin() + long(std::min(threads, first + 32))}));
  return warps.size() == 1 ? warps[0] : merge(form, warps);
}

/// Every way to cut rows of `n` columns of some shape of numbers.
void expectPairsWithin(const char *text, const PairForm &form, const Numbers &x) {
  const auto n = int64_t(x.size());
  Evaluated op(text);
  op.set("x", {1, n}, x).set("a", {1}).set("b", {1});
  ASSERT_EQ(op.run(), "");
  const Numbers in = op.stored("x");
  for (size_t threads : {1u, 2u, 4u, 8u, 32u, 64u, 256u, 1024u})
    for (size_t vec : {1u, 4u}) {
      const bool isHeld = x.size() <= threads * 128; // else steps of 256 threads or more
      if (!isHeld && threads < 256)
        continue;
      const Partial row = reduceRow(form, in, threads, vec, isHeld ? x.size() : 2 * vec);
      expectWithin(op, "a", {row.reference});
      expectWithin(op, "b", {row.about});
      if (testing::Test::HasFailure())
        FAIL() << n << " columns, " << threads << " threads, vectors of " << vec;
    }
}

std::vector<Numbers> shapes(size_t n) {
  std::vector<Numbers> out = {wavy(n), wavy(n, 1, 30)};
  for (Numbers *x : {&out.emplace_back(wavy(n, 2)), &out.emplace_back(wavy(n, 3, 1e-3))})
    for (double &each : *x)
      each += 1000; // far from zero beside its spread
  for (double &each : out.emplace_back(wavy(n, 4)))
    each = std::pow(each, 9) * 1e4; // few large numbers
  return out;
}

constexpr int64_t kWidths[] = {1,  2,  3,   5,   7,   8,    9,    16,   31,
                               32, 33, 100, 511, 513, 1000, 4097, 20000};

} // namespace

TEST(Pairs, MaximumAndSumOfExponentials) {
  constexpr const char *text = "op pair over rows { in x; out a[row], b[row]; a = max(x); "
                               "b = sum(exp(x - a)) }";
  for (int64_t n : kWidths)
    for (const Numbers &x : shapes(size_t(n)))
      expectPairsWithin(text, exponentials(), x);
}

TEST(Pairs, RowsThatAreMostlyLeftOut) {
  constexpr const char *text = "op pair over rows { in x; out a[row], b[row]; a = max(x); "
                               "b = sum(if a == -inf then 0 else exp(x - a)) }";
  for (int64_t n : {2, 9, 33, 300}) {
    Numbers x(size_t(n), -INFINITY);
    expectPairsWithin(text, exponentials(), x);
    x[size_t(n / 2)] = 3;
    expectPairsWithin(text, exponentials(), x);
    x[size_t(n - 1)] = 300;
    expectPairsWithin(text, exponentials(), x);
  }
}

TEST(Pairs, MeanAndSquaresAboutIt) {
  constexpr const char *text = "op pair over rows { in x; out a[row], b[row]; a = avg(x); "
                               "b = sum((x - a)^2) }";
  for (int64_t n : kWidths)
    for (const Numbers &x : shapes(size_t(n)))
      expectPairsWithin(text, moments(), x);
}

/// What is no pair keeps the bound of a sum, and one number alone has no deviation.
TEST(Pairs, OthersAreBoundedAsBefore) {
  Evaluated pair("op a over rows { in x; out q[row]; m = avg(x); q = sum((x - m)^2) }");
  Evaluated none("op a over rows { in x; in c; out q[row]; m = avg(c); q = sum((x - m)^2) }");
  const Numbers x = wavy(100);
  pair.set("x", {1, 100}, x).set("q", {1});
  none.set("x", {1, 100}, x).set("c", {1, 100}, x).set("q", {1});
  ASSERT_EQ(pair.run(), "");
  ASSERT_EQ(none.run(), "");
  EXPECT_EQ(pair.values("q"), none.values("q"));
  EXPECT_GT(pair.bounds("q")[0], none.bounds("q")[0]);
  EXPECT_LT(pair.bounds("q")[0], 6 * none.bounds("q")[0]);
  pair.set("x", {1, 1}, {3.7}).set("q", {1});
  ASSERT_EQ(pair.run(), "");
  EXPECT_EQ(pair.bounds("q")[0], 0);
}
