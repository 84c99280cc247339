// The f64 functions of the scalar program, in one place. Exact operations come from the C library.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace fw::jit::scalar_math {

inline double abs(double x) { return std::fabs(x); }
inline double floor(double x) { return std::floor(x); }
inline double ceil(double x) { return std::ceil(x); }
inline double trunc(double x) { return std::trunc(x); }
inline double round(double x) { return std::nearbyint(x); } // to even
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }
inline double sqrt(double x) { return std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

/// sign(+-0) = 0, sign(NaN) = NaN.
inline double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }

/// NaN wins; +0 is greater than -0.
inline double max(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
inline double min(double x, double y) { return -max(-x, -y); }

/// x^n by squaring, lowest bit first; a negative n is the reciprocal of x^-n. `n` holds a whole
/// number.
inline double powInt(double x, double n) {
  if (!(std::fabs(n) < 0x1p63)) // no count: NaN or an infinity
    return std::numeric_limits<double>::quiet_NaN();
  double result = 1.0, base = x;
  for (uint64_t bits = uint64_t(std::fabs(n)); bits; bits >>= 1) {
    if (bits & 1)
      result *= base;
    base *= base;
  }
  return n < 0 ? 1.0 / result : result;
}

inline double exp(double x) { return std::exp(x); }
inline double exp2(double x) { return std::exp2(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log2(double x) { return std::log2(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

} // namespace fw::jit::scalar_math
