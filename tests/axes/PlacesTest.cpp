// Values of what the language says about axes: scopes, places, ints, bools, calls and draws.
#include "tests/axes/Evaluated.h"

#include "templates/vocab/random.h"

using namespace axes;

namespace {

/// Values of y of an op over rows with input x of `shape`.
Numbers yOf(const std::string &body, const Shape &shape, const Numbers &x,
            const std::map<std::string, double> &scalars = {}) {
  Evaluated op("op test over rows {\n in x;  out y\n" + body + "\n}");
  op.set("x", shape, x).set("y", shape);
  for (auto &[name, value] : scalars)
    op.scalar(name, value);
  EXPECT_EQ(op.run(), "");
  return op.values("y");
}

} // namespace

TEST(Reductions, KeepRowsByDefault) {
  const Numbers x = {1, -2, 3, 4, 5, -6};
  const std::pair<const char *, Numbers> expected[] = {
      {"sum(x)", {2, 3}},
      {"avg(x)", {2.0 / 3, 1}},
      {"max(x)", {3, 5}},
      {"min(x)", {-2, -6}},
      {"absmax(x)", {3, 6}},
      {"count(x > 0)", {2, 2}},
      {"(if any(x < -5) then 1 else 0)", {0, 1}},
      {"(if all(x > -5) then 1 else 0)", {1, 0}},
      {"sum[row](x)", {2, 3}},
      {"sum[tensor](x)", {5, 5}},
      {"avg[all](x)", {5.0 / 6, 5.0 / 6}},
      {"max[tensor](sum(x))", {3, 3}},
      {"avg[tensor](max(x))", {4, 4}},
      {"avg[all](max(x))", {4, 4}},
      {"size(row) + 10*size(column) + 100*size(tensor)", {632, 632}}};
  for (auto &[text, rows] : expected) {
    const Numbers y = yOf(" y = x*0 + " + std::string(text), {2, 3}, x);
    for (size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(y[i], rows[i / 3], 3e-8) << text; // numbers of all are rounded for elements
  }
}

TEST(Reductions, MaxAndMinPropagateNan) {
  const Numbers y = yOf(" y = x + max(x) + min(x)", {2, 2}, {std::nan(""), 1, 2, 3});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 7);
}

TEST(Reductions, ColumnsMayBeStored) {
  Evaluated op("op test over rows { in x;  out dw[column], n[column] : int\n"
               " dw = sum[column](x);  n = index(column) }");
  op.set("x", {3, 2}, {1, 2, 3, 4, 5, 6}).set("dw", {2}).set("n", {2});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("dw"), (Numbers{9, 12}));
  EXPECT_EQ(op.values("n"), (Numbers{0, 1}));
  op.set("x", {0, 2}); // of no rows
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("dw"), (Numbers{0, 0}));
}

TEST(Reductions, NamedAxesKeepWhatTheyName) {
  Evaluated op("op test over [n, c; h, w] { in x;  out mean[n, c], heads[c], lines[n, c, h]\n"
               " mean = avg(x);  heads = sum[c](x);  lines = max[n, c, h](x) }");
  Numbers x;
  for (int i = 0; i < 24; ++i)
    x.push_back(i);
  op.set("x", {2, 3, 2, 2}, x).set("mean", {2, 3}).set("heads", {3}).set("lines", {2, 3, 2});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("mean"), (Numbers{1.5, 5.5, 9.5, 13.5, 17.5, 21.5}));
  EXPECT_EQ(op.values("heads"), (Numbers{60, 92, 124}));
  EXPECT_EQ(op.values("lines"), (Numbers{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));
}

TEST(Reductions, OfRowsWithinBlocksOfARow) {
  // One value per head and row, used by the elements of that head: within a row.
  Evaluated op("op test over [row; head, dim] { in x;  out y;  y = x - max[row, head](x) }");
  op.set("x", {1, 2, 3}, {1, 2, 3, 9, 8, 7}).set("y", {1, 2, 3});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("y"), (Numbers{-2, -1, 0, 0, -1, -2}));
}

TEST(Ints, ArithmeticIsDefinedEverywhere) {
  Evaluated op(R"(op test over rows {
    in a : int, b : int;  out q : int, m : int, l : int, r : int, x : int, s : int, p : int
    q = a div b;  m = a mod b;  l = a << b;  r = a >> b;  x = xor(a, and_(b, or_(a, 1)))
    s = a + b - a*b;  p = clamp(a, 0, 9) + min(a, b) + max(a, b) + abs(a) + sign(b) - -b
  })");
  const Numbers a = {7, -7, 7, -7, 5, -9007199254740992.0}, b = {2, 2, -2, -2, 0, 64};
  op.set("a", {2, 3}, a).set("b", {2, 3}, b);
  for (const char *name : {"q", "m", "l", "r", "x", "s", "p"})
    op.set(name, {2, 3});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("q"), (Numbers{3, -4, -4, 3, 0, -140737488355328.0}));
  EXPECT_EQ(op.values("m"), (Numbers{1, 1, -1, -1, 5, 0}));
  EXPECT_EQ(op.values("l"), (Numbers{28, -28, 0, 0, 5, 0}));
  EXPECT_EQ(op.values("r"), (Numbers{1, -2, 0, -1, 5, -1}));
  EXPECT_EQ(op.values("x")[0], double(7 ^ (2 & (7 | 1))));
  EXPECT_EQ(op.values("s")[0], 7 + 2 - 14);
  EXPECT_EQ(op.values("p")[0], 7 + 2 + 7 + 7 + 1 + 2);
}

TEST(Ints, WrapWhereTheyAreStoredAndWhereTheyOverflow) {
  Evaluated used("op test over rows { in x;  out y : int, z : int, v\n"
                 " n = index(column) + 300;  y = n;  z = (n << 62)*4 + (n << 63)*n;  v = x }",
                 {.dtypes = {{"y", "u8"}}});
  used.set("x", {1, 2}).set("y", {1, 2}).set("z", {1, 2}).set("v", {1, 2});
  ASSERT_EQ(used.run(), "");
  EXPECT_EQ(used.values("y"), (Numbers{44, 45}));
  EXPECT_EQ(used.values("z"), (Numbers{0, -0x1p63})); // 2^64 is 0, 2^63 is the least int
}

TEST(Bools, AreReadStoredAndCompared) {
  Evaluated op("op test over rows { in keep : bool, x;  out y, drop : bool, some[row] : bool\n"
               " drop = not keep;  some = any(keep);  y = if keep == (x > 0) then x else -1 }");
  op.set("keep", {2, 2}, {1, 0, 0, 0}).set("x", {2, 2}, {2, 2, -3, 3});
  op.set("y", {2, 2}).set("drop", {2, 2}).set("some", {2});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("y"), (Numbers{2, -1, -3, -1}));
  EXPECT_EQ(op.values("drop"), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(op.values("some"), (Numbers{1, 0}));
}

TEST(Gather, ReadsATargetAWeightAndATable) {
  Evaluated op(R"(op test over rows {
    in x;  row target : int;  column w;  in table[place, column];  row position : int
    out logit[row], weight[row], y
    logit = x[target];  weight = w[target];  y = x + table[position]
  })");
  op.set("x", {3, 2}, {1, 2, 3, 4, 5, 6}).set("target", {3}, {1, 0, -100});
  op.set("w", {2}, {0.5, 0.25}).set("table", {4, 2}, {10, 11, 20, 21, 30, 31, 40, 41});
  op.set("position", {3}, {3, 0, 4}).set("logit", {3}).set("weight", {3}).set("y", {3, 2});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("logit")[0], 2);
  EXPECT_EQ(op.values("logit")[1], 3);
  EXPECT_TRUE(std::isnan(op.values("logit")[2])); // outside
  EXPECT_EQ(op.values("weight")[0], 0.25);
  EXPECT_EQ(op.values("y")[0], 41);
  EXPECT_EQ(op.values("y")[3], 15);
  EXPECT_TRUE(std::isnan(op.values("y")[4]));
}

TEST(Gather, WhatASelectLeavesOutDoesNotLeak) {
  Evaluated op(R"(op cross_entropy over rows {
    in x;  row target : int;  out loss[row];  hyper ignore : int = -100
    t = max(x);  z = log(sum(exp(x - t))) + t
    loss = if target == ignore then 0 else z - x[target]
  })");
  const Numbers x = wavy(10);
  op.set("x", {2, 5}, x).set("target", {2}, {3, -100}).set("loss", {2});
  ASSERT_EQ(op.run(), "");
  const Numbers in = op.stored("x");
  double z = 0;
  for (size_t i = 0; i < 5; ++i)
    z += std::exp(in[i]);
  EXPECT_NEAR(op.values("loss")[0], std::log(z) - in[3], 1e-12);
  EXPECT_EQ(op.values("loss")[1], 0);
  EXPECT_EQ(op.bounds("loss")[1], 0);
}

TEST(SwapPairs, GivesThePartnersValue) {
  const Numbers x = {0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(yOf(" y = swap_pairs(x, half)", {2, 7}, x),
            (Numbers{3, 4, 5, 0, 1, 2, 6, 13, 14, 15, 10, 11, 12, 16}));
  EXPECT_EQ(yOf(" y = swap_pairs(x, interleaved)", {2, 7}, x),
            (Numbers{1, 0, 3, 2, 5, 4, 6, 11, 10, 13, 12, 15, 14, 16}));
  EXPECT_EQ(yOf(" hyper n : int = 4\n y = swap_pairs(2*x, half, n)", {1, 7}, {0, 1, 2, 3, 4, 5, 6}),
            (Numbers{4, 6, 0, 2, 8, 10, 12}));
  EXPECT_EQ(yOf(" y = swap_pairs(x, interleaved, 100)", {1, 2}, {1, 2}), (Numbers{2, 1}));
}

TEST(Draws, ArePhiloxAsItsAuthorsTestIt) {
  const fw::Philox zero = fw::philox(0, 0, 0, 0, 0);
  EXPECT_EQ(zero.words[0], 0x6627e8d5u);
  EXPECT_EQ(zero.words[1], 0xe169c58du);
  EXPECT_EQ(zero.words[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.words[3], 0x9b00dbd8u);
  const fw::Philox pi =
      fw::philox(0x299f31d0a4093822u, 0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u);
  EXPECT_EQ(pi.words[0], 0xd16cfe09u);
  EXPECT_EQ(pi.words[1], 0x94fdccebu);
  EXPECT_EQ(pi.words[2], 0x5001e420u);
  EXPECT_EQ(pi.words[3], 0x24126ea1u);
}

TEST(Draws, CountElementsOverAllAxes) {
  Evaluated op("op test over rows { in x;  out y, b : int;  y = x + random();  b = bits() }");
  op.set("x", {5, 7}, Numbers(35, 0.0)).set("y", {5, 7}).set("b", {5, 7});
  EXPECT_NE(op.run(), ""); // the launch chooses the seed
  op.scalar("seed", 1234567890123.0).scalar("offset", 17);
  ASSERT_EQ(op.run(), "");
  for (uint64_t i = 0; i < 35; ++i) {
    EXPECT_EQ(op.values("y")[i], fw::drawBits(1234567890123u, i, 17, 0) / 65536.0);
    EXPECT_EQ(op.values("b")[i], double(fw::drawBits(1234567890123u, i, 17, 1)));
  }
}

TEST(Calls, AreTheirEquations) {
  Evaluated op("op block over rows { in x, r;  column w;  out y, r2\n"
               " r2 = x + r;  y = rms_norm(r2, w, eps = 1e-6).y }");
  const Numbers x = wavy(8), r = wavy(8, 1), w = wavy(4, 2);
  op.set("x", {2, 4}, x).set("r", {2, 4}, r).set("w", {4}, w).set("y", {2, 4}).set("r2", {2, 4});
  ASSERT_EQ(op.run(), "");
  const Numbers a = op.stored("x"), b = op.stored("r"), c = op.stored("w");
  Numbers expected;
  for (size_t row = 0; row < 2; ++row) {
    double squares = 0;
    for (size_t i = 0; i < 4; ++i)
      squares += std::pow(a[row * 4 + i] + b[row * 4 + i], 2);
    for (size_t i = 0; i < 4; ++i)
      expected.push_back((a[row * 4 + i] + b[row * 4 + i]) /
                         std::sqrt(squares / 4 + double(1e-6f)) * c[i]);
  }
  expectClosedForm(op, "y", expected);
}

TEST(Calls, OverAxesRunOverRowsOfThem) {
  Evaluated op(R"(
    op twice over elements { in a;  out p, q;  hyper k = 2;  p = k*a;  q = a/k }
    op inner over rows { option way = plus | minus;  in v;  row s;  out z, n[row]
      t = twice(v, k = 4).p;  if way == plus { z = t + s } else { z = t - s }
      n = size(column) + 10*index(row) + sum(v) }
    op test over [a, b; c, d] { in x;  in s[a, b];  out y, n[a, b]
      y = inner(x, s, way = minus).z + twice(x).q;  n = inner(x, s).n }
  )",
               {}, "test");
  Numbers x;
  for (int i = 0; i < 36; ++i)
    x.push_back(i);
  op.set("x", {2, 3, 3, 2}, x).set("s", {2, 3}, {1, 2, 3, 4, 5, 6});
  op.set("y", {2, 3, 3, 2}).set("n", {2, 3});
  ASSERT_EQ(op.run(), "");
  for (size_t i = 0; i < 36; ++i)
    EXPECT_EQ(op.values("y")[i], 4.0 * double(i) - double(i / 6 + 1) + double(i) / 2);
  for (size_t row = 0; row < 6; ++row)
    EXPECT_EQ(op.values("n")[row], 6 + 10.0 * double(row) + double(36 * row + 15));
}

TEST(Calls, ReadTheCallersOperandAtAnIndex) {
  Evaluated op(R"(
    op pick over rows { in x;  row at : int;  out v[row];  v = x[at] }
    op test over rows { in x, y;  row k : int;  out z[row];  z = pick(x, k) + pick(y, k + 1) }
  )",
               {}, "test");
  op.set("x", {2, 3}, {1, 2, 3, 4, 5, 6}).set("y", {2, 3}, {10, 20, 30, 40, 50, 60});
  op.set("k", {2}, {1, 0}).set("z", {2});
  ASSERT_EQ(op.run(), "");
  EXPECT_EQ(op.values("z"), (Numbers{32, 54}));
}
