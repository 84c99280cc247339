// The element functions against the C library in a wider format: the bounds of functions.def, the
// ends of each range, and the promise that they are branch-free over any number type.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "templates/vocab/math.h"

namespace fw {
namespace {

/// What every function is compared with, in double for f32 and in long double for f64.
namespace reference {
using std::cos, std::erf, std::exp, std::exp2, std::expm1, std::log, std::log1p, std::log2,
    std::sin, std::tanh;
template <class T> T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }
template <class T> T rsqrt(T x) { return 1 / std::sqrt(x); }
} // namespace reference

/// |got - exact| in ulps of `exact` in T; infinite where one is NaN, infinite or a zero of the
/// other sign and the other is not.
template <class T, class Wide> double ulps(T got, Wide exact) {
  constexpr int DIGITS = std::numeric_limits<T>::digits,
                LOWEST = std::numeric_limits<T>::min_exponent;
  const T nearest = static_cast<T>(exact);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got))
    return nearest == got ? 0 : INFINITY;
  if (exact == 0)
    return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : INFINITY;
  int exponent;
  std::frexp(exact, &exponent);
  return static_cast<double>(
      std::fabs(std::ldexp(got - exact, DIGITS - std::max(exponent, LOWEST))));
}

struct Worst {
  double ulps = 0, x = 0;
  void see(double error, double at) {
    if (!(error <= ulps))
      ulps = error, x = at;
  }
};

struct Function {
  const char *name;
  double bound32, bound64;
  float (*f32)(float);
  double (*f64)(double);
  double (*exact32)(double);
  long double (*exact64)(long double);
};
const Function functions[] = {
#define FW_FUNCTION(name, bound32, bound64)                                                        \
  {#name,                                                                                          \
   bound32,                                                                                        \
   bound64,                                                                                        \
   [](float x) { return math::name(x); },                                                          \
   [](double x) { return math::name(x); },                                                         \
   [](double x) { return reference::name(x); },                                                    \
   [](long double x) { return reference::name(x); }},
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
};

/// Every `step`-th f32, on two threads.
Worst scanFloats(const Function &f, u64 step) {
  Worst halves[2];
  const auto scan = [&](int half) {
    for (u64 i = half * step; i < u64{1} << 32; i += 2 * step) {
      const float x = bitCast<float>(static_cast<u32>(i));
      halves[half].see(ulps(f.f32(x), f.exact32(x)), x);
    }
  };
  std::thread other(scan, 1);
  scan(0);
  other.join();
  return halves[0].ulps > halves[1].ulps ? halves[0] : halves[1];
}

void expectBounds(u64 step) {
  for (const Function &f : functions) {
    const Worst worst = scanFloats(f, step);
    printf("  %-8s f32 %.3f ulp at %a, bound %g\n", f.name, worst.ulps, worst.x, f.bound32);
    EXPECT_LE(worst.ulps, f.bound32) << f.name << " at " << worst.x;
  }
}

TEST(Functions, KeepTheirBoundsOverASampleOfFloats) { expectBounds(601); }
TEST(Functions, DISABLED_ExhaustiveKeepTheirBoundsOverAllFloats) { expectBounds(1); }

/// Bit patterns over the whole range, numbers around 1, and the neighbourhood of the functions'
/// seams.
std::vector<double> sampleDoubles(int count) {
  std::mt19937_64 random(1);
  std::vector<double> all = {0.0, -0.0, INFINITY, -INFINITY, NAN,
                             1.0, -1.0, 5e-324,   2.2e-308,  1.7e308};
  const auto unit = [&] { return static_cast<double>(random()) * 0x1p-63 - 1; };
  for (int k = 0; k < count; ++k) {
    all.push_back(bitCast<double>(static_cast<u64>(random())));
    all.push_back(unit() * 3);
    all.push_back(std::ldexp(unit(), static_cast<int>(random() % 80) - 60));
    all.push_back(unit() * 760);
    all.push_back(1 + unit() * 0.5);
    all.push_back((static_cast<int>(random() % 2000000) - 1000000) *
                  1.5707963267948966); // near quarter turns
  }
  return all;
}
TEST(Functions, KeepTheirBoundsOverRandomDoubles) {
  static_assert(std::numeric_limits<long double>::digits >= 64,
                "the reference needs a wider format");
  const std::vector<double> samples = sampleDoubles(40000);
  for (const Function &f : functions) {
    Worst worst;
    for (double x : samples)
      worst.see(ulps(f.f64(x), f.exact64(x)), x);
    printf("  %-8s f64 %.3f ulp at %a, bound %g\n", f.name, worst.ulps, worst.x, f.bound64);
    EXPECT_LE(worst.ulps, f.bound64) << f.name << " at " << worst.x;
  }
}

TEST(Functions, EndsOfTheirRanges) {
  const float inf = INFINITY, nan = NAN;
  for (const Function &f : functions) {
    EXPECT_TRUE(std::isnan(f.f32(nan))) << f.name;
    EXPECT_TRUE(std::isnan(f.f64(nan))) << f.name;
    for (float x : {inf, -inf, 0.0f, -0.0f, -1.0f, 1.0f, 1e-45f, -1e-45f, 1e-40f, 88.8f, -103.9f,
                    -104.1f, 3e38f, -3e38f})
      EXPECT_LE(ulps(f.f32(x), f.exact32(x)), f.bound32) << f.name << " at " << x;
  }
  EXPECT_EQ(math::exp(-103.0f), 1.4012985e-45f); // a denormal result, rounded once
  EXPECT_EQ(math::log(0.0f), -inf);
  EXPECT_EQ(math::tanh(50.0), 1.0);
  EXPECT_EQ(math::erf(-7.0), -1.0);
  for (int k = -149; k < 128; ++k) { // powers of two are exact
    EXPECT_EQ(math::log2(std::ldexp(1.0f, k)), k);
    EXPECT_EQ(math::exp2(static_cast<float>(k)), std::ldexp(1.0f, k));
  }
}

TEST(Functions, PowersBySquaring) {
  EXPECT_EQ(math::power(1.5, 0), 1.0);
  EXPECT_EQ(math::power(-3.0, 5), -243.0);
  EXPECT_EQ(math::power(2.0, -3), 0.125);
  EXPECT_EQ(math::power(-2.0f, INT64_MIN), 0.0f);
  EXPECT_NEAR(math::power(0.999, 1000), std::pow(0.999, 1000), 1e-13);
}

// A number type as a tracing compiler would have one: its comparisons give no bool, so a branch on
// a value does not compile; its operations are counted, so a constant number of them shows that
// control does not depend on values.
struct Mask {
  bool value;
};
int operations = 0;
template <class T> struct Counted {
  T value;
};
template <class T> using CountedInt = Counted<typename math::Number<T>::Int>;
template <class T>
concept Integral = std::integral<T>;

#define FW_COUNTED(op)                                                                             \
  template <class T> Counted<T> operator op(Counted<T> a, Counted<T> b) {                          \
    return ++operations, Counted<T>{static_cast<T>(a.value op b.value)};                           \
  }
FW_COUNTED(+)
FW_COUNTED(-)
FW_COUNTED(*)
FW_COUNTED(/)
#undef FW_COUNTED
#define FW_COUNTED(op)                                                                             \
  template <Integral T> Counted<T> operator op(Counted<T> a, Counted<T> b) {                       \
    return ++operations, Counted<T>{static_cast<T>(a.value op b.value)};                           \
  }
FW_COUNTED(&)
FW_COUNTED(|)
FW_COUNTED(^)
FW_COUNTED(<<)
FW_COUNTED(>>)
#undef FW_COUNTED
#define FW_COUNTED(op)                                                                             \
  template <Integral T, Integral C> Counted<T> operator op(Counted<T> a, C b) {                    \
    return a op Counted<T>{static_cast<T>(b)};                                                     \
  }
FW_COUNTED(+)
FW_COUNTED(-)
FW_COUNTED(&)
FW_COUNTED(|)
FW_COUNTED(^)
FW_COUNTED(<<)
FW_COUNTED(>>)
#undef FW_COUNTED
#define FW_COUNTED(op)                                                                             \
  template <class T> Mask operator op(Counted<T> a, Counted<T> b) {                                \
    return ++operations, Mask{a.value op b.value};                                                 \
  }                                                                                                \
  template <Integral T, Integral C> Mask operator op(Counted<T> a, C b) {                          \
    return a op Counted<T>{static_cast<T>(b)};                                                     \
  }
FW_COUNTED(<)
FW_COUNTED(<=)
FW_COUNTED(>)
FW_COUNTED(>=)
FW_COUNTED(==)
FW_COUNTED(!=)
#undef FW_COUNTED
template <class T> Counted<T> operator-(Counted<T> a) { return ++operations, Counted<T>{-a.value}; }
template <class T> Counted<T> select(Mask m, Counted<T> a, Counted<T> b) {
  return ++operations, m.value ? a : b;
}
Mask either(Mask a, Mask b) { return {a.value || b.value}; }
template <Integral T> Counted<T> like(Counted<T>, u64 x) { return {static_cast<T>(x)}; }
template <std::floating_point T> Counted<T> like(Counted<T>, double x) {
  return {static_cast<T>(x)};
}
template <class T> Counted<T> fma(Counted<T> a, Counted<T> b, Counted<T> c) {
  return ++operations, Counted<T>{math::fma(a.value, b.value, c.value)};
}
template <class T> Counted<T> sqrt(Counted<T> a) {
  return ++operations, Counted<T>{math::sqrt(a.value)};
}
template <class T> Counted<T> abs(Counted<T> a) {
  return ++operations, Counted<T>{math::abs(a.value)};
}
template <class T> CountedInt<T> bits(Counted<T> a) { return {math::bits(a.value)}; }
template <Integral T> auto fromBits(Counted<T> a) {
  return Counted<decltype(math::fromBits(a.value))>{math::fromBits(a.value)};
}
template <Integral T> auto toReal(Counted<T> a) {
  return Counted<decltype(math::toReal(a.value))>{math::toReal(a.value)};
}
template <Integral T> Counted<T> shiftRightSigned(Counted<T> a, int by) {
  return {math::shiftRightSigned(a.value, by)};
}
template <Integral T> Counted<T> mulHigh(Counted<T> a, Counted<T> b) {
  return {math::mulHigh(a.value, b.value)};
}

} // namespace

namespace math {
template <class T> struct Number<Counted<T>> {
  using Int = Counted<typename Number<T>::Int>;
  static constexpr bool DOUBLE = Number<T>::DOUBLE;
};
} // namespace math

namespace {

template <class T>
void expectSameThroughCounted(const char *name, T (*plain)(T), Counted<T> (*counted)(Counted<T>)) {
  int count = -1;
  for (double x : {0.0, -0.0, 0.3, -0.7, 1.0, 3.5, -20.0, 100.0, 1e-30, 1e30, double(INFINITY),
                   double(-INFINITY)}) {
    operations = 0;
    const T got = counted({static_cast<T>(x)}).value, expected = plain(static_cast<T>(x));
    EXPECT_TRUE(math::bits(got) == math::bits(expected) || (got != got && expected != expected))
        << name << " of " << x;
    EXPECT_TRUE(count == -1 || count == operations) << name << " of " << x;
    count = operations;
  }
}

TEST(Functions, AreOneTextForAnyNumberTypeWithoutABranch) {
#define FW_FUNCTION(name, ...)                                                                     \
  expectSameThroughCounted<float>(                                                                 \
      #name, [](float x) { return math::name(x); },                                                \
      [](Counted<float> x) { return math::name(x); });                                             \
  expectSameThroughCounted<double>(                                                                \
      #name, [](double x) { return math::name(x); },                                               \
      [](Counted<double> x) { return math::name(x); });
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
}

} // namespace
} // namespace fw
