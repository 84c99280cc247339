// Passes that reduce, against plain loops that add in the order of the contract.
#include "templates/vocab/bf16.h"
#include "tests/cpu/Harness.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace fw::cpu::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sum, max and min of x, which is stored as `dtype` (MLIR: `type`).
std::string sumMaxMin(const std::string &dtype, const std::string &type, const std::string &real) {
  const std::string table =
      "#fuse.operand<name = \"x\", role = in, dtype = \"" + dtype + "\", scope = <element>>";
  const std::string load = type == real ? "%v = fuse.load \"x\" : " + real
                                        : "%raw = fuse.load \"x\" : " + type +
                                              "\n%v = fuse.cast %raw : " + type + " to " + real;
  const std::string three = real + ", " + real + ", " + real;
  return "module {\nfuse.program @test operands [" + table +
         "] scalars [] {\nfuse.scalars {\n}\nfuse.kernel @kernel elements " + real +
         " {\n%r:3 = fuse.each [#fuse<reduce_kind sum>, #fuse<reduce_kind max>, #fuse<reduce_kind "
         "min>] -> " +
         three + " {\n" + load + "\nfuse.yield %v, %v, %v : " + three +
         "\n}\nfuse.reduction \"sum\" keep <all> %r#0 : " + real +
         "\nfuse.reduction \"max\" keep <tensor> %r#1 : " + real +
         "\nfuse.reduction \"min\" keep <all> %r#2 : " + real + "\n}\n}\n}\n";
}

using Results = std::array<double, 3>;
constexpr Results nothing = {0, -infinity, infinity};

/// The sum as the contract says: 128 bytes of accumulators, halves added, then the tail.
template <class Real> Real sumInOrder(const std::vector<Real> &x) {
  constexpr size_t lanes = 128 / sizeof(Real);
  std::array<Real, lanes> sums = {};
  const size_t middle = x.size() / lanes * lanes;
  for (size_t i = 0; i < middle; ++i)
    sums[i % lanes] += x[i];
  for (size_t half = lanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      sums[i] += sums[i + half];
  for (size_t i = middle; i < x.size(); ++i)
    sums[0] += x[i];
  return sums[0];
}

template <class Real> std::vector<Real> numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> out(count);
  for (Real &x : out)
    x = Real(normal(random));
  return out;
}

template <class Real> Results expected(const std::vector<Real> &x) {
  Results out = nothing;
  out[0] += double(sumInOrder(x));
  for (Real value : x) {
    out[1] = std::fmax(out[1], double(value));
    out[2] = std::fmin(out[2], double(value));
  }
  return out;
}

const int64_t counts[] = {0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 257, 1000, 65536};

template <class Real> void expectReductions(const char *dtype, const std::string &type) {
  for (const std::string &features : testedFeatures()) {
    Kernel kernel(sumMaxMin(dtype, type, type), "kernel", features.c_str());
    for (int64_t count : counts) {
      const std::vector<Real> x = numbers<Real>(size_t(count), unsigned(count) + 1);
      Results results = nothing;
      kernel({x.data()}, 0, count, nullptr, results.data());
      EXPECT_EQ(results, expected(x)) << count << " elements with " << features;
    }
  }
}

TEST(Reductions, BitsAreThoseOfTheContractForEveryVectorWidth) {
  expectReductions<float>("f32", "f32");
  expectReductions<double>("f64", "f64");
}

TEST(Reductions, NarrowStorageIsReducedInElementPrecision) {
  const std::vector<float> drawn = numbers<float>(777, 1);
  std::vector<uint16_t> codes;
  std::vector<float> x;
  for (float value : drawn) {
    codes.push_back(Codec<bf16>::encode(value));
    x.push_back(Codec<bf16>::decode(codes.back()));
  }
  for (const std::string &features : testedFeatures()) {
    Kernel kernel(sumMaxMin("bf16", "bf16", "f32"), "kernel", features.c_str());
    Results results = nothing;
    kernel({codes.data()}, 0, int64_t(x.size()), nullptr, results.data());
    EXPECT_EQ(results, expected(x)) << features;
  }
}

TEST(Reductions, CallsAddUp) {
  Kernel kernel(sumMaxMin("f32", "f32", "f32"));
  const std::vector<float> x = numbers<float>(300, 2);
  Results results = nothing;
  kernel({x.data()}, 0, 100, nullptr, results.data());
  kernel({x.data()}, 100, 100, nullptr, results.data());
  kernel({x.data()}, 100, 300, nullptr, results.data());
  const std::vector<float> first(x.begin(), x.begin() + 100), second(x.begin() + 100, x.end());
  EXPECT_EQ(results[0], double(sumInOrder(first)) + double(sumInOrder(second)));
  EXPECT_EQ(results[1], expected(x)[1]);
  EXPECT_EQ(results[2], expected(x)[2]);
}

TEST(Reductions, OrderIsThatOfTheRangeNotOfWhereItStarts) {
  Kernel kernel(sumMaxMin("f32", "f32", "f32"));
  const std::vector<float> drawn = numbers<float>(1000, 3);
  Results atStart = nothing, later = nothing;
  kernel({drawn.data() + 7}, 0, 900, nullptr, atStart.data());
  kernel({drawn.data()}, 7, 907, nullptr, later.data());
  EXPECT_EQ(atStart, later);
}

TEST(Reductions, NanStaysWhereverItStands) {
  Kernel kernel(sumMaxMin("f32", "f32", "f32"));
  for (size_t place : {0, 17, 40, 64, 99}) { // in each kind of vector, and in the tail
    std::vector<float> x = numbers<float>(100, 4);
    x[place] = std::nanf("");
    Results results = nothing;
    kernel({x.data()}, 0, 100, nullptr, results.data());
    for (double result : results)
      EXPECT_TRUE(std::isnan(result)) << place;
    x[place] = 0; // what an earlier call saw stays too
    kernel({x.data()}, 0, 100, nullptr, results.data());
    for (double result : results)
      EXPECT_TRUE(std::isnan(result)) << place;
  }
}

TEST(Reductions, InfinitiesAndZeros) {
  Kernel kernel(sumMaxMin("f32", "f32", "f32"));
  std::vector<float> x(70, -0.0f);
  Results results = nothing;
  kernel({x.data()}, 0, 70, nullptr, results.data());
  EXPECT_EQ(results, (Results{0, 0, 0}));
  x[3] = float(infinity), x[66] = float(-infinity);
  results = nothing;
  kernel({x.data()}, 0, 70, nullptr, results.data());
  EXPECT_TRUE(std::isnan(results[0]));
  EXPECT_EQ(results[1], infinity);
  EXPECT_EQ(results[2], -infinity);
}

/// A whole step: a norm, then an update. Slots mean the program right before, and columns are what
/// a kernel touches.
constexpr const char *clipped = R"(module {
  fuse.program @test
      operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
                #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
      scalars [#fuse.hyper<name = "lr">, #fuse.hyper<name = "scale">] {
    fuse.scalars {
      %scale = fuse.scalar "scale" : f64
      fuse.result "scale", %scale : f64 to f32
    }
    fuse.kernel @norm elements f32 {
      %scale = fuse.slot "scale" : f32
      %r = fuse.each [#fuse<reduce_kind sum>] -> f32 {
        %g = fuse.load "g" : f32
        %s = arith.mulf %g, %scale : f32
        %q = arith.mulf %s, %s : f32
        fuse.yield %q : f32
      }
      fuse.reduction "norm2" keep <all> %r : f32
    }
    fuse.scalars {
      %norm2 = fuse.reduced "norm2"
      %one = arith.constant 1.0 : f64
      %lr = fuse.scalar "lr" : f64
      %scale = fuse.scalar "scale" : f64
      %skip = arith.cmpf ogt, %norm2, %one : f64
      fuse.result "lr", %lr : f64 to f32
      fuse.result "scale", %scale : f64 to f32
      fuse.result "skip", %skip : i1 to i1
      fuse.skip_if %skip
    }
    fuse.kernel @apply elements f32 {
      %skip = fuse.slot "skip" : i1
      fuse.skip_if %skip
      %lr = fuse.slot "lr" : f32
      %scale = fuse.slot "scale" : f32
      fuse.each {
        %p = fuse.load "p" : f32
        %g = fuse.load "g" : f32
        %s = arith.mulf %g, %scale : f32
        %u = arith.mulf %s, %lr : f32
        %n = arith.subf %p, %u : f32
        fuse.store "p", %n : f32
      }
    }
  }
})";

TEST(Reductions, KernelsOfAStepReadTheSlotsBeforeThem) {
  Kernel norm(clipped, "norm"), apply(clipped, "apply");
  const int64_t count = 71;
  std::vector<float> p(count, 1.0f), g(count, 2.0f);
  const float first[] = {0.5f};
  double norm2 = 3;
  norm({g.data()}, 0, count, first, &norm2);
  EXPECT_EQ(norm2, 3 + count);
  const float second[] = {0.25f, 0.5f, 1.0f}; // lr, scale, and a decision that is not the kernel's
  apply({p.data(), g.data()}, 0, count, second);
  EXPECT_EQ(p, std::vector<float>(count, 0.75f));
}

} // namespace
} // namespace fw::cpu::test
