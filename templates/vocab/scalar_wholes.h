// Ints of the scalar program: whole numbers of f64, with the operations that f64 has not. They are
// done in 64 bits, which wrap, and what is beyond those is their nearest end.
#pragma once

#include "templates/vocab/arithmetic.h"
#include "templates/vocab/whole_operations.h"

namespace fw::math::wholes {

FW_INLINE i64 toInt(double x) {
  constexpr i64 LEAST = -0x7fffffffffffffffll - 1;
  if (!(x > -0x1p63))
    return x != x ? 0 : LEAST;
  return x < 0x1p63 ? static_cast<i64>(x) : 0x7fffffffffffffffll;
}
FW_INLINE double toNumber(i64 x) { return static_cast<double>(x); }
FW_INLINE double div(double a, double b) { return toNumber(wholeQuotient(toInt(a), toInt(b))); }
FW_INLINE double mod(double a, double b) { return toNumber(wholeRest(toInt(a), toInt(b))); }
FW_INLINE double shiftLeft(double a, double n) { return toNumber(shiftedLeft(toInt(a), toInt(n))); }
FW_INLINE double shiftRight(double a, double n) {
  return toNumber(shiftedRight(toInt(a), toInt(n)));
}
FW_INLINE double bitAnd(double a, double b) { return toNumber(toInt(a) & toInt(b)); }
FW_INLINE double bitOr(double a, double b) { return toNumber(toInt(a) | toInt(b)); }
FW_INLINE double bitXor(double a, double b) { return toNumber(toInt(a) ^ toInt(b)); }

} // namespace fw::math::wholes
