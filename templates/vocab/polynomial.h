// Polynomials with constant coefficients.
#pragma once

#include "templates/vocab/arithmetic.h"

namespace fw::math {

template <class N> FW_INLINE N horner(N x, double last) { return like(x, last); }
/// c0 + x (c1 + x (...)), one fma per coefficient.
template <class N, class... C> FW_INLINE N horner(N x, double c0, double c1, C... rest) {
  return fma(x, horner(x, c1, rest...), like(x, c0));
}

} // namespace fw::math
