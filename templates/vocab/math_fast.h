// Element functions in the hardware's own form, for `fast` alone. The host twins are the exact
// ones: a test compares within the bounds that stand here.
#pragma once

#include "templates/vocab/math_exponential.h"

namespace fw::fast {

/// How far the exponentials may be off: by ULPS, and e^x also by a factor 1 +- SLOPE * |x| * 2^-24:
/// log2(e) and the product with it are rounded.
inline constexpr double ULPS = 2, SLOPE = 1.23;

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

/// e^x, within 2 + 1.23 |x| ulp at the most; results below the smallest normal number are 0.
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
