// Ints: of elements in 64 bits that wrap, of the scalar program as whole numbers of f64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fw::evaluator {

namespace numbers {
inline double add(double a, double b) { return a + b; }
inline double sub(double a, double b) { return a - b; }
inline double mul(double a, double b) { return a * b; }
inline double max(double a, double b) { return std::max(a, b); }
inline double min(double a, double b) { return std::min(a, b); }
} // namespace numbers

namespace wholes {
/// The int nearest to a whole number.
inline int64_t fromNumber(double x) {
  if (!(x > -0x1p63))
    return std::isnan(x) ? 0 : std::numeric_limits<int64_t>::min();
  return x < 0x1p63 ? int64_t(x) : std::numeric_limits<int64_t>::max();
}

inline int64_t add(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
inline int64_t sub(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
inline int64_t mul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
inline int64_t max(int64_t a, int64_t b) { return std::max(a, b); }
inline int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
inline int64_t bitAnd(int64_t a, int64_t b) { return a & b; }
inline int64_t bitOr(int64_t a, int64_t b) { return a | b; }
inline int64_t bitXor(int64_t a, int64_t b) { return a ^ b; }

/// Rounded down; 0 of a division by 0. The one quotient that does not fit wraps.
inline int64_t div(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return b == 0 ? 0 : sub(0, a);
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t mod(int64_t a, int64_t b) { return sub(a, mul(div(a, b), b)); }

inline int64_t shiftLeft(int64_t a, int64_t n) {
  return n < 0 || n > 63 ? 0 : int64_t(uint64_t(a) << n);
}
inline int64_t shiftRight(int64_t a, int64_t n) { return a >> (n < 0 || n > 63 ? 63 : n); }

/// An operation of ints on whole numbers.
template <auto G> double asNumbers(double a, double b) {
  return static_cast<double>(G(fromNumber(a), fromNumber(b)));
}
} // namespace wholes

} // namespace fw::evaluator
