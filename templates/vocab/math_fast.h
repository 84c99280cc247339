// Element functions in the hardware's own form, for `fast` alone. The host twins are the exact
// ones: a test compares within the bounds that stand here.
#pragma once

#include "templates/vocab/math_exponential.h"

namespace fw::fast {

/// 2^x within 2 ulp; results below the smallest normal number are 0.
FW_INLINE float exp2(float x) {
#if defined(__CUDACC__)
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  const float r = math::exp2(x);
  return r < 0x1p-126f ? 0.0f : r;
#endif
}

/// e^x within 2 + |x| ulp: the product with log2(e) is rounded.
FW_INLINE float exp(float x) { return exp2(x * 1.44269504088896341f); }

/// 1 / x within 1 ulp.
FW_INLINE float reciprocal(float x) {
#if defined(__CUDACC__)
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return 1.0f / x;
#endif
}

} // namespace fw::fast
