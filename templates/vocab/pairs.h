// Reductions about a reference that parts of a row have for themselves: a sum of squares about a
// mean, a sum of exponentials about a maximum. What a part has is moved to the reference of more.
#pragma once

#include "templates/vocab/arithmetic.h"

namespace fw {

/// The mean of what `count` elements add up to; 0 of none.
template <class N> FW_INLINE N averageOf(N sum, N count) { return count == 0 ? N{0} : sum / count; }

/// A sum of squares of `count` elements about a mean that has gone down by `distance`. Chan, Golub
/// & LeVeque 1979, equation 1.3 in two steps.
template <class N> FW_INLINE N movedSquares(N squares, N distance, N count) {
  return count == 0 ? squares : math::fma(distance * distance, count, squares);
}

/// A sum of exponentials about `from`, about `to`, where e^(from - to) is `factor`. What is about
/// -infinity stands for elements of -infinity alone, which are nothing about a number.
template <class N> FW_INLINE N movedExponentials(N sum, N from, N to, N factor) {
  if (from == to)
    return sum;
  return from == -math::infinityLike(from) ? N{0} : sum * factor;
}

} // namespace fw
