// Powers.
#pragma once

#include "templates/vocab/arithmetic.h"

namespace fw::math {

/// Two roundings.
template <class N> FW_INLINE N rsqrt(N x) { return like(x, 1.0) / sqrt(x); }

/// The exponent of a power, which holds a whole number; beyond 2^62 the result is 0, 1 or infinite
/// anyway.
FW_INLINE i64 wholeNumber(double n) {
  const double atLeast = n < -0x1p62 ? -0x1p62 : n;
  return n != n ? 0 : static_cast<i64>(atLeast > 0x1p62 ? 0x1p62 : atLeast);
}

/// x^n by squaring; n is a value of the scalar program, the same in every thread, so it may be
/// looped over. x^-n is 1 / x^n.
template <class N> FW_INLINE N power(N x, i64 n) {
  const u64 magnitude = n < 0 ? u64{0} - static_cast<u64>(n) : static_cast<u64>(n);
  N result = like(x, 1.0), square = x;
  for (u64 rest = magnitude; rest != 0; rest >>= 1) {
    if (rest & 1)
      result = result * square;
    square = square * square;
  }
  return n < 0 ? like(x, 1.0) / result : result;
}

} // namespace fw::math
