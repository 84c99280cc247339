// Element functions and basic operations on vectors and in the tail, against the float and double
// instantiation of the same text (templates/vocab/math.h), bit for bit.
#include "templates/vocab/math.h"
#include "tests/cpu/Harness.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace fw::cpu::test {
namespace {

/// Every class of number: a stride through all bit patterns, and the edges.
template <class T> std::vector<T> samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out;
  for (T x : {T(0),
              T(0.5),
              T(1),
              T(1.5),
              T(2),
              T(2.5),
              T(3.14159265),
              T(87),
              T(88.5),
              T(89),
              T(104),
              T(709),
              T(745),
              T(1e6),
              Limits::min(),
              Limits::denorm_min(),
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN(),
              Limits::epsilon()})
    out.insert(out.end(), {x, -x, std::nextafter(x, T(-1e9)), std::nextafter(x, T(1e9))});
  if constexpr (sizeof(T) == 4) {
    for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 65521)
      out.push_back(std::bit_cast<float>(uint32_t(bits)));
  } else {
    std::mt19937_64 generator(7);
    for (int i = 0; i < 30000; ++i)
      out.push_back(std::bit_cast<double>(generator()));
  }
  std::mt19937 generator(3);
  std::normal_distribution<T> near(0, 3), far(0, 100);
  for (int i = 0; i < 10001; ++i)
    out.insert(out.end(), {near(generator), far(generator)});
  return out;
}

std::string unary(const std::string &op, const std::string &real) {
  return program({{"x", "in", real}, {"y", "out", real}}, {},
                 "%x = fuse.load \"x\" : " + real + "\n%y = " + op + " %x : " + real +
                     "\nfuse.store \"y\", %y : " + real,
                 real);
}

template <class T, class F> void expectSame(const std::string &phases, F want) {
  std::vector<T> x = samples<T>(), y(x.size());
  int64_t n = static_cast<int64_t>(x.size());
  auto check = [&](const std::string &where) {
    int wrong = 0;
    for (int64_t i = 0; i < n; ++i)
      if (!sameBits(y[i], T(want(x[i]))) && ++wrong < 5)
        ADD_FAILURE() << std::hexfloat << "x " << x[i] << ": expected " << T(want(x[i])) << ", got "
                      << y[i] << " in " << where;
    EXPECT_EQ(wrong, 0);
    std::fill(y.begin(), y.end(), T(-7));
  };
  for (const std::string &features : testedFeatures()) {
    Kernel kernel(phases, "kernel", features.c_str());
    kernel({x.data(), y.data()}, 0, n);
    check("vectors with " + features);
    for (int64_t i = 0; i < n; ++i)
      kernel({x.data(), y.data()}, i, i + 1);
    check("the tail with " + features);
  }
}

#define FUNCTION(Name, op, want)                                                                   \
  TEST(Functions, Name##F32) {                                                                     \
    expectSame<float>(unary(op, "f32"), [](float x) { return want; });                             \
  }                                                                                                \
  TEST(Functions, Name##F64) {                                                                     \
    expectSame<double>(unary(op, "f64"), [](double x) { return want; });                           \
  }
FUNCTION(Rsqrt, "math.rsqrt", math::rsqrt(x))
FUNCTION(Exp, "math.exp", math::exp(x))
FUNCTION(Exp2, "math.exp2", math::exp2(x))
FUNCTION(Expm1, "math.expm1", math::expm1(x))
FUNCTION(Log, "math.log", math::log(x))
FUNCTION(Log2, "math.log2", math::log2(x))
FUNCTION(Log1p, "math.log1p", math::log1p(x))
FUNCTION(Tanh, "math.tanh", math::tanh(x))
FUNCTION(Erf, "math.erf", math::erf(x))
FUNCTION(Sin, "math.sin", math::sin(x))
FUNCTION(Cos, "math.cos", math::cos(x))
FUNCTION(Sigmoid, "fuse.sigmoid", math::sigmoid(x))
FUNCTION(Sign, "fuse.sign", math::sign(x))
FUNCTION(Sqrt, "math.sqrt", std::sqrt(x))
FUNCTION(Abs, "math.absf", std::fabs(x))
FUNCTION(Floor, "math.floor", std::floor(x))
FUNCTION(Ceil, "math.ceil", std::ceil(x))
FUNCTION(Trunc, "math.trunc", std::trunc(x))
FUNCTION(Round, "math.roundeven", std::nearbyint(x))
FUNCTION(Negative, "arith.negf", -x)
#undef FUNCTION

/// The function of a pair: x and the samples in another order.
template <class T, class F>
void expectSamePairs(const std::string &line, const std::string &real, F want) {
  std::vector<T> x = samples<T>(), z = x, y(x.size());
  std::shuffle(z.begin() + 80, z.end(), std::mt19937(11));
  std::rotate(z.begin(), z.begin() + 17, z.begin() + 80);
  std::string phases =
      program({{"x", "in", real}, {"z", "in", real}, {"y", "out", real}}, {},
              "%x = fuse.load \"x\" : " + real + "\n%z = fuse.load \"z\" : " + real + "\n" + line +
                  "\nfuse.store \"y\", %y : " + real,
              real);
  for (const std::string &features : testedFeatures()) {
    Kernel kernel(phases, "kernel", features.c_str());
    kernel({x.data(), z.data(), y.data()}, 0, x.size());
    int wrong = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (!sameBits(y[i], T(want(x[i], z[i]))) && ++wrong < 5)
        ADD_FAILURE() << std::hexfloat << x[i] << ", " << z[i] << ": expected "
                      << T(want(x[i], z[i])) << ", got " << y[i] << " with " << features;
    EXPECT_EQ(wrong, 0);
  }
}

#define PAIR(Name, line32, line64, want)                                                           \
  TEST(Pairs, Name##F32) {                                                                         \
    expectSamePairs<float>(line32, "f32", [](float x, float z) { return want; });                  \
  }                                                                                                \
  TEST(Pairs, Name##F64) {                                                                         \
    expectSamePairs<double>(line64, "f64", [](double x, double z) { return want; });               \
  }
#define SIMPLE_PAIR(Name, op, want)                                                                \
  PAIR(Name, "%y = " op " %x, %z : f32", "%y = " op " %x, %z : f64", want)
SIMPLE_PAIR(Add, "arith.addf", x + z)
SIMPLE_PAIR(Subtract, "arith.subf", x - z)
SIMPLE_PAIR(Multiply, "arith.mulf", x *z)
SIMPLE_PAIR(Divide, "arith.divf", x / z)
SIMPLE_PAIR(Max, "arith.maximumf", math::max(x, z))
SIMPLE_PAIR(Min, "arith.minimumf", math::min(x, z))
PAIR(FmaOnce, "%y = math.fma %x, %z, %x : f32", "%y = math.fma %x, %z, %x : f64", std::fma(x, z, x))
PAIR(NoContraction, "%t = arith.mulf %x, %z : f32\n%y = arith.addf %t, %x : f32",
     "%t = arith.mulf %x, %z : f64\n%y = arith.addf %t, %x : f64", x *z + x)
#define COMPARE(Name, predicate, want)                                                             \
  PAIR(Name, "%c = arith.cmpf " predicate ", %x, %z : f32\n%y = arith.select %c, %x, %z : f32",    \
       "%c = arith.cmpf " predicate ", %x, %z : f64\n%y = arith.select %c, %x, %z : f64",          \
       (want) ? x : z)
COMPARE(Less, "olt", x < z)
COMPARE(LessEqual, "ole", x <= z)
COMPARE(Greater, "ogt", x > z)
COMPARE(GreaterEqual, "oge", x >= z)
COMPARE(Equal, "oeq", x == z)
COMPARE(NotEqual, "une", x != z)
PAIR(IsNan, "%c = math.isnan %x : f32\n%y = arith.select %c, %z, %x : f32",
     "%c = math.isnan %x : f64\n%y = arith.select %c, %z, %x : f64", std::isnan(x) ? z : x)
PAIR(IsFinite, "%c = math.isfinite %x : f32\n%y = arith.select %c, %z, %x : f32",
     "%c = math.isfinite %x : f64\n%y = arith.select %c, %z, %x : f64", std::isfinite(x) ? z : x)
PAIR(LogicOfComparisons,
     "%a = arith.cmpf olt, %x, %z : f32\n%b = math.isnan %x : f32\n%t = arith.constant true\n"
     "%n = arith.xori %a, %t : i1\n%o = arith.ori %n, %b : i1\n%y = arith.select %o, %x, %z : f32",
     "%a = arith.cmpf olt, %x, %z : f64\n%b = math.isnan %x : f64\n%t = arith.constant true\n"
     "%n = arith.xori %a, %t : i1\n%o = arith.ori %n, %b : i1\n%y = arith.select %o, %x, %z : f64",
     !(x < z) || std::isnan(x) ? x : z)

} // namespace
} // namespace fw::cpu::test
