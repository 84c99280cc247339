// Ints of the scalar program: whole numbers of f64, with the operations that f64 has not. They are
// done in 64 bits, which wrap, and what is beyond those is their nearest end.
#pragma once

#include "templates/vocab/arithmetic.h"

namespace fw::math::wholes {

FW_INLINE i64 toInt(double x) {
  constexpr i64 LEAST = -0x7fffffffffffffffll - 1;
  if (!(x > -0x1p63))
    return x != x ? 0 : LEAST;
  return x < 0x1p63 ? static_cast<i64>(x) : 0x7fffffffffffffffll;
}
FW_INLINE double toNumber(i64 x) { return static_cast<double>(x); }
FW_INLINE i64 wrapped(u64 x) { return static_cast<i64>(x); }

/// Rounded down; 0 of a division by 0.
FW_INLINE i64 quotient(i64 a, i64 b) {
  if (b == 0 || b == -1)
    return b == 0 ? 0 : wrapped(u64{0} - static_cast<u64>(a));
  const i64 towardsZero = a / b;
  return towardsZero - ((a % b != 0) && ((a < 0) != (b < 0)));
}
FW_INLINE double div(double a, double b) { return toNumber(quotient(toInt(a), toInt(b))); }
/// With the sign of b; all of a where b is 0.
FW_INLINE double mod(double a, double b) {
  const u64 x = static_cast<u64>(toInt(a)), y = static_cast<u64>(toInt(b));
  return toNumber(wrapped(x - static_cast<u64>(quotient(wrapped(x), wrapped(y))) * y));
}
FW_INLINE double shiftLeft(double a, double n) {
  const i64 by = toInt(n);
  return by < 0 || by > 63 ? 0.0 : toNumber(wrapped(static_cast<u64>(toInt(a)) << by));
}
FW_INLINE double shiftRight(double a, double n) {
  const i64 by = toInt(n);
  return toNumber(toInt(a) >> (by < 0 || by > 63 ? 63 : by));
}
FW_INLINE double bitAnd(double a, double b) { return toNumber(toInt(a) & toInt(b)); }
FW_INLINE double bitOr(double a, double b) { return toNumber(toInt(a) | toInt(b)); }
FW_INLINE double bitXor(double a, double b) { return toNumber(toInt(a) ^ toInt(b)); }

} // namespace fw::math::wholes
