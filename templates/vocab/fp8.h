// Storage dtypes of eight bits. The type says what overflow gives: e4m3fn NaN, e5m2 infinity, the
// .sat forms the largest finite value (of infinities too); NaN stays NaN and keeps its sign in all.
// The text of narrow.h is used on every arch: the hardware forms saturate only, and drop NaN's
// sign.
#pragma once

#include "templates/vocab/dtypes.h"
#include "templates/vocab/narrow.h"

namespace fw {

struct e4m3fn {
  u8 bits;
};
struct e4m3fn_sat {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};
struct e5m2_sat {
  u8 bits;
};

template <class F> struct EightBits {
  using Bits = u8;
  using Real = float;
  static FW_INLINE float decode(u8 bits) { return math::decodeNarrow<F>(static_cast<u32>(bits)); }
  static FW_INLINE u8 encode(float x) { return static_cast<u8>(math::encodeNarrow<F>(x)); }
  static FW_INLINE u8 encode(double x) { return encode(math::roundToOdd(x)); }
};

template <> struct Codec<e4m3fn> : EightBits<math::E4m3fnFormat> {};
template <> struct Codec<e4m3fn_sat> : EightBits<math::E4m3fnSatFormat> {};
template <> struct Codec<e5m2> : EightBits<math::E5m2Format> {};
template <> struct Codec<e5m2_sat> : EightBits<math::E5m2SatFormat> {};

} // namespace fw
