// Storage dtypes of eight bits. The type says what overflow gives: e4m3fn NaN, e5m2 infinity, the
// .sat forms the largest finite value (of infinities too); NaN stays NaN and keeps its sign in all.
// The text of narrow.h is used on every arch, but for vectors of the saturating forms: the hardware
// has these alone, and drops the sign of NaN, so a vector with a NaN goes by that text too.
#pragma once

#include "templates/vocab/memory.h"
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

#if defined(__CUDACC__) && FW_HAS_FP8_CONVERT
FW_INLINE u16 convertPair(float low, float high, e4m3fn_sat) {
  u16 pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
FW_INLINE u16 convertPair(float low, float high, e5m2_sat) {
  u16 pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

template <class T, int W> FW_INLINE void packPairs(Raw<T, W> &raw, const float (&x)[W]) {
  using Word = typename Raw<T, W>::Word;
  constexpr int PER_WORD = sizeof(Word);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < W; ++k)
    sum += x[k];
  if (sum != sum) { // a NaN, or infinities of both signs
#pragma unroll
    for (int k = 0; k < W; ++k)
      set(raw, k, x[k]);
    return;
  }
#pragma unroll
  for (int k = 0; k < W; k += 2) {
    const u32 pair = convertPair(x[k], x[k + 1], T{});
    const u32 before = k % PER_WORD == 0 ? 0 : raw.words[k / PER_WORD];
    raw.words[k / PER_WORD] = static_cast<Word>(before | pair << k % PER_WORD * 8);
  }
}

template <int W> FW_INLINE void pack(Raw<e4m3fn_sat, W> &raw, const float (&x)[W]) {
  if constexpr (W == 1)
    set(raw, 0, x[0]);
  else
    packPairs(raw, x);
}
template <int W> FW_INLINE void pack(Raw<e5m2_sat, W> &raw, const float (&x)[W]) {
  if constexpr (W == 1)
    set(raw, 0, x[0]);
  else
    packPairs(raw, x);
}
#endif

} // namespace fw
