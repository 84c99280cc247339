// Numbers into storage words: a whole vector at once - the 16-bit formats take two numbers an
// instruction, where element by element each takes three - or one element among others.
#pragma once

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/memory.h"

namespace fw {

/// Elements 0, 1, ... become x[0], x[1], ..., each rounded once to T.
template <class T, int W, class Real> FW_INLINE void pack(Raw<T, W> &raw, const Real (&x)[W]) {
#pragma unroll
  for (int k = 0; k < W; ++k)
    set(raw, k, x[k]);
}

/// Element k becomes `x` rounded once to T; the others stay.
template <class T, int W, class Real> FW_INLINE void put(Raw<T, W> &raw, int k, Real x) {
  using Word = typename Raw<T, W>::Word;
  if constexpr (sizeof(T) >= sizeof(Word)) {
    set(raw, k, x);
  } else {
    constexpr int PER_WORD = sizeof(Word) / sizeof(T), BITS = 8 * static_cast<int>(sizeof(T));
    const u32 bits = static_cast<u32>(Codec<T>::encode(x)), mask = (u32{1} << BITS) - 1;
    const int shift = k % PER_WORD * BITS;
    const u32 others = raw.words[k / PER_WORD] & ~(mask << shift);
    raw.words[k / PER_WORD] = static_cast<Word>(others | bits << shift);
  }
}

#if defined(__CUDACC__) && FW_HAS_BF16_CONVERT
template <int W> FW_INLINE void pack(Raw<bf16, W> &raw, const float (&x)[W]) {
  if constexpr (W == 1)
    set(raw, 0, x[0]);
  else
#pragma unroll
    for (int k = 0; k < W; k += 2)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(raw.words[k / 2]) : "f"(x[k + 1]), "f"(x[k]));
}
template <int W> FW_INLINE void pack(Raw<f16, W> &raw, const float (&x)[W]) {
  if constexpr (W == 1)
    set(raw, 0, x[0]);
  else
#pragma unroll
    for (int k = 0; k < W; k += 2)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(raw.words[k / 2]) : "f"(x[k + 1]), "f"(x[k]));
}
#endif

} // namespace fw
