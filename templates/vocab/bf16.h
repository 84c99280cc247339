// Storage dtype bf16.
#pragma once

#include "templates/vocab/dtypes.h"
#include "templates/vocab/narrow.h"

namespace fw {

struct bf16 {
  u16 bits;
};

template <> struct Codec<bf16> {
  using Bits = u16;
  using Real = float;
  static FW_INLINE float decode(u16 bits) { return bitCast<float>(static_cast<u32>(bits) << 16); }
#if defined(__CUDACC__) && FW_HAS_BF16_CONVERT
  static FW_INLINE u16 encode(float x) {
    u16 bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
  }
#else
  static FW_INLINE u16 encode(float x) {
    return static_cast<u16>(math::encodeNarrow<math::Bf16Format>(x));
  }
#endif
  static FW_INLINE u16 encode(double x) { return encode(math::roundToOdd(x)); }
};

} // namespace fw
