// The domain of mode "bits": IEEE arithmetic as kernels do it, operation by operation. A value is
// held as the double that it equals; an f32 operation rounds its result once, to f32.
#pragma once

#include "compiler/dialect/evaluator/Relation.h"
#include "compiler/dialect/evaluator/Storage.h"

#include <cmath>
#include <cstdint>

namespace fw::evaluator {

struct Machine {
  using Real = double;
  using Truth = bool;
  using Stored = uint64_t;
  static constexpr bool REDUCES = false; ///< the order of a sum is no matter of the op's text

  struct Format {
    explicit Format(const Dtype &dtype) : isDouble(dtype.bytes == 8) {}
    bool isDouble;
  };

  /// `body` on machine numbers of the format.
  template <class Body, class... Numbers>
  static double in(const Format &f, Body body, Numbers... numbers) {
    return f.isDouble ? body(numbers...)
                      : static_cast<double>(body(static_cast<float>(numbers)...));
  }

  static double convert(double x, const Dtype &to) { return roundTo(to, x); }
  static uint64_t store(double x, const Dtype &, const Dtype &to) { return encode(to, x); }
  static uint64_t kept(bool skipped, double old, uint64_t now, const Dtype &dtype) {
    return skipped ? encode(dtype, old) : now;
  }
  static uint64_t storeWhole(int64_t value, const IntDtype &to) { return encodeInt(to, value); }
  static uint64_t storeTruth(bool truth, const IntDtype &) { return truth; }
  static uint64_t keptWhole(bool skipped, double old, uint64_t now, const IntDtype &dtype) {
    return skipped ? encodeInt(dtype, static_cast<int64_t>(old)) : now;
  }
  static double constant(double x) { return x; }
  static double fromWhole(int64_t x, const Format &f) {
    return f.isDouble ? static_cast<double>(x) : static_cast<double>(static_cast<float>(x));
  }
  static double fromInt(double x, const Format &f) {
    return f.isDouble ? x : static_cast<double>(static_cast<float>(x));
  }

  static double neg(double x, const Format &) { return -x; }
  static double abs(double x, const Format &) { return std::abs(x); }
  static double add(double a, double b, const Format &f) {
    return in(f, [](auto x, auto y) { return x + y; }, a, b);
  }
  static double sub(double a, double b, const Format &f) {
    return in(f, [](auto x, auto y) { return x - y; }, a, b);
  }
  static double mul(double a, double b, const Format &f) {
    return in(f, [](auto x, auto y) { return x * y; }, a, b);
  }
  static double square(double a, const Format &f) { return mul(a, a, f); }
  static double div(double a, double b, const Format &f) {
    return in(f, [](auto x, auto y) { return x / y; }, a, b);
  }
  static double fma(double a, double b, double c, const Format &f) {
    return in(f, [](auto x, auto y, auto z) { return std::fma(x, y, z); }, a, b, c);
  }
  static double sqrt(double x, const Format &f) {
    return in(f, [](auto v) { return std::sqrt(v); }, x);
  }

  /// NaN when either is NaN; +0 is larger than -0.
  static double max(double a, double b, const Format &) {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
  static double min(double a, double b, const Format &) {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
  static double floor(double x, const Format &) { return std::floor(x); }
  static double ceil(double x, const Format &) { return std::ceil(x); }
  static double trunc(double x, const Format &) { return std::trunc(x); }
  static double round(double x, const Format &) { return std::nearbyint(x); }
  static double sign(double x, const Format &) {
    return x == 0 || std::isnan(x) ? x : std::copysign(1.0, x);
  }

  static bool compare(double a, double b, unsigned accepted) {
    return (relation(a, b) & accepted) != 0;
  }
  static bool isFinite(double x, const Format &) { return std::isfinite(x); }
  static bool isNan(double x, const Format &) { return std::isnan(x); }
  static bool decide(bool value) { return value; }
  static bool logicalAnd(bool a, bool b) { return a && b; }
  static bool logicalOr(bool a, bool b) { return a || b; }
  static bool logicalXor(bool a, bool b) { return a != b; }
  static double choose(bool c, double a, double b) { return c ? a : b; }
  static bool choose(bool c, bool a, bool b) { return c ? a : b; }
};

} // namespace fw::evaluator
