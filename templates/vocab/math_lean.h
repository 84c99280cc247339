// Exponentials of f32 within the bound of the hardware's (math_fast.h), in half the operations of
// the exact ones: what a CPU takes where the hardware's are allowed. Results below the smallest
// normal number are 0.
#pragma once

#include "templates/vocab/math_exponential.h"

namespace fw::math {

/// 2^x by a polynomial within 0.94 ulp on [-1/2, 1/2]; NaN stays NaN.
template <class N> FW_INLINE N leanExp2(N x) {
  if constexpr (Number<N>::DOUBLE) {
    return exp2(x);
  } else {
    const N magic = like(x, 12582912.0), sum = x + magic, rest = x - (sum - magic);
    const N y = horner(rest, 1.0, 0.693147182, 0.240226477, 0.0555033237, 0.00961843692,
                       0.0013398875, 0.00015353362);
    const N scaled = fromBits(bits(y) + (bits(sum) << Format<N>::MANTISSA));
    const N high = select(x < like(x, 128.0), scaled, x + infinityLike(x));
    return select(x < like(x, -126.0), like(x, 0.0), high);
  }
}
template <class N> FW_INLINE N leanExp(N x) {
  if constexpr (Number<N>::DOUBLE)
    return exp(x);
  else
    return leanExp2(x * like(x, 1.44269504088896341));
}

} // namespace fw::math
