// Storage dtype f16 (IEEE binary16).
#pragma once

#include "templates/vocab/dtypes.h"
#include "templates/vocab/narrow.h"

namespace fw {

struct f16 {
  u16 bits;
};

template <> struct Codec<f16> {
  using Bits = u16;
  using Real = float;
#if defined(__CUDACC__)
  static FW_INLINE float decode(u16 bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
  static FW_INLINE u16 encode(float x) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
  }
#else
  static FW_INLINE float decode(u16 bits) {
    return math::decodeNarrow<math::F16Format>(static_cast<u32>(bits));
  }
  static FW_INLINE u16 encode(float x) {
    return static_cast<u16>(math::encodeNarrow<math::F16Format>(x));
  }
#endif
  static FW_INLINE u16 encode(double x) { return encode(math::roundToOdd(x)); }
};

} // namespace fw
