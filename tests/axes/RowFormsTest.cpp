// What a kernel over rows takes beside rows of numbers: values of a tensor or of all, random bits,
// pairs of columns, ints of a launch. The CPU against the evaluator, at many widths.
#include "tests/axes/Evaluated.h"

using namespace axes;

namespace {

constexpr int64_t kWidths[] = {1, 2, 3, 7, 8, 9, 31, 33, 1000, 1025};

/// Holds what a launch of `text` writes against the evaluator; `more` gives further operands.
template <class More>
void expectLaunches(const std::string &text, const std::map<std::string, double> &scalars,
                    More more, const Choices &choices = {}) {
  for (int64_t n : kWidths) {
    Evaluated op("op test over rows {" + text + "}", choices);
    op.set("x", {3, n}, wavy(size_t(3 * n))).set("y", {3, n});
    for (auto &[name, value] : scalars)
      op.scalar(name, value);
    more(op, n);
    op.expectLaunchWithinBounds();
    if (testing::Test::HasFailure())
      FAIL() << "of width " << n;
  }
}
void expectLaunches(const std::string &text, const std::map<std::string, double> &scalars = {},
                    const Choices &choices = {}) {
  expectLaunches(text, scalars, [](Evaluated &, int64_t) {}, choices);
}

} // namespace

TEST(RowForms, ValuesOfATensorAndOfAll) {
  expectLaunches(
      "in x, s[tensor], k[tensor] : int;  out y;  in t[all], on[all] : bool;  hyper a = 3\n"
      "q = 1/s + a*t;  y = if on then x*s*q + avg(x)*(k*k - 1) else x/t",
      {{"a", 0.7}},
      [](Evaluated &op, int64_t n) {
        op.set("s", {}, {0.3}).set("t", {}, {-1.7}).set("k", {}, {n % 2 ? 5.0 : -3.0});
        op.set("on", {}, {n == 7 ? 0.0 : 1.0});
      },
      {.dtypes = {{"s", "bf16"}, {"k", "i16"}}});
}

TEST(RowForms, ADoubleMadeOfOneIsRoundedOnce) {
  // 1/3 in f64 times 3 is 1; rounded to f32 in between it would not be.
  Evaluated op("op test over rows { in x, s[tensor];  out y;  y = x*(1/s*s - 1) }");
  op.set("x", {1, 5}, {1, 2, 3, 4, 5}).set("s", {}, {49}).set("y", {1, 5});
  op.expectLaunchWithinBounds();
  EXPECT_NEAR(op.stored("y")[4], 5 * (1.0 / 49 * 49 - 1), 1e-22);
}

TEST(RowForms, RandomNumbersAreThoseOfTheElement) {
  expectLaunches("in x;  out y, b : int;  hyper rate = 0.3\n"
                 "b = bits();  y = if random() >= rate then x/(1 - rate) else 0",
                 {{"seed", 123456789}, {"offset", 17}},
                 [](Evaluated &op, int64_t n) { op.set("b", {3, n}); });
  for (int64_t keys : {1, 5, 8, 9, 40}) {
    Evaluated op("op test over [batch, head, query; key] { in x;  out y, z[batch, head, query]\n"
                 "d = random();  y = x*d;  z = sum(x*d + random()) }");
    const Shape all = {2, 3, 5, keys};
    op.set("x", all, wavy(count(all))).set("y", all).set("z", {2, 3, 5});
    op.scalar("seed", 9007199254740992.0).scalar("offset", 4294967295.0);
    op.expectLaunchWithinBounds();
  }
}

TEST(RowForms, PairsOfColumns) {
  for (const char *mode : {"half", "interleaved"}) {
    const std::string swap = std::string("swap_pairs(x*w + index(column), ") + mode;
    const auto weights = [](Evaluated &op, int64_t n) { op.set("w", {n}, wavy(size_t(n), 1)); };
    expectLaunches("in x;  column w;  out y;  y = x + " + swap + ")", {}, weights);
    expectLaunches("in x;  column w;  out y;  hyper n : int = 6;  y = avg(x) - " + swap + ", n)",
                   {{"n", 6}}, weights, {.dtypes = {{"x", "bf16"}, {"w", "f16"}}});
    expectLaunches("in x;  column w;  out y;  m = max(" + swap + ", 5));  y = x - m", {}, weights);
    expectLaunches("in x;  column w;  out y;  hyper n : int = 6;  y = " + swap + ", n)",
                   {{"n", -3}}, weights);
  }
}

TEST(RowForms, PairsAreNotSwappedInPlace) {
  Evaluated op("op test over rows { in x;  out y;  y = x + swap_pairs(x, half) }");
  op.set("x", {2, 4}, wavy(8)).set("y", {2, 4});
  op.alias("y", "x");
  EXPECT_NE(op.launch().find("expected memory of its own for written operand 'y'"),
            std::string::npos);
}

TEST(RowForms, QuotientsShiftsAndBitsOfALaunch) {
  expectLaunches("in x;  out y;  hyper n : int = 5, k : int = 2\n"
                 "q = size(column) div k + (n mod k)*(n << 3) - (n >> 1)\n"
                 "y = x*q + xor(n, k) - and_(n, 6)*or_(k, 9) + index(column) div (n div k)",
                 {{"n", -7}, {"k", 3}});
  expectLaunches("in x;  out y;  hyper n : int = 5, k : int = 0\n"
                 "y = x + (n div k) + (n mod k) + (n << 64) + (n >> 70) + (n div -1)",
                 {{"n", 12345678901}, {"k", 0}});
}

TEST(RowForms, AxesWithoutASemicolonSpanTheLast) {
  for (int64_t n : kWidths) {
    Evaluated op("op test over [seq, head, dim] { in x, c[seq, 1, dim];  out y, s[seq, head]\n"
                 "y = x*c + index(head);  s = sum[seq, head](x*x) }");
    op.set("x", {2, 3, n}, wavy(size_t(6 * n))).set("c", {2, 1, n}, wavy(size_t(2 * n), 1));
    op.set("y", {2, 3, n}).set("s", {2, 3});
    op.expectLaunchWithinBounds();
  }
}
