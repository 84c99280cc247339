// Loads of what all rows share: one value per column, found in a cache by all blocks but the first.
// They are not volatile, unlike loads of streams: the compiler moves them where it has registers.
#pragma once

#include "templates/vocab/memory.h"

namespace fw {

#if defined(__CUDACC__)
FW_INLINE void loadColumnWords(u32 (&w)[4], u64 address) {
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
      : "l"(address));
}
FW_INLINE void loadColumnWords(u32 (&w)[2], u64 address) {
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(address));
}
FW_INLINE void loadColumnWords(u32 (&w)[1], u64 address) {
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(w[0]) : "l"(address));
}
FW_INLINE void loadColumnWords(u16 (&w)[1], u64 address) {
  asm("ld.global.nc.u16 %0, [%1];" : "=h"(w[0]) : "l"(address));
}
FW_INLINE void loadColumnWords(u8 (&w)[1], u64 address) {
  u16 wide; // inline PTX has no 8-bit register
  asm("ld.global.nc.u8 %0, [%1];" : "=h"(wide) : "l"(address));
  w[0] = static_cast<u8>(wide);
}
#else
template <class Word, int N> void loadColumnWords(Word (&w)[N], u64 address) {
  loadWords(w, address, 0);
}
#endif

/// W values of neighbouring columns: vectors are cut by what is streamed, so wider values take more
/// than one access.
template <class T, int W> struct ColumnRaw {
  static constexpr int PART = W * sizeof(T) <= 16 ? W : 16 / static_cast<int>(sizeof(T));
  Raw<T, PART> parts[W / PART];
};
template <class T, int W> FW_INLINE typename Codec<T>::Real get(const ColumnRaw<T, W> &raw, int k) {
  constexpr int PART = ColumnRaw<T, W>::PART;
  return get(raw.parts[k / PART], k % PART);
}

/// Elements [i, i + W) of `base`; element i must stand on a boundary of the access.
template <int W, class T> FW_INLINE void loadColumn(Raw<T, W> &out, const T *base, u32 i) {
  loadColumnWords(out.words, reinterpret_cast<u64>(base) + static_cast<u64>(i) * sizeof(T));
}

/// `words` of two neighbouring granules, from byte `shift` on; 0 < shift < 4 * N.
template <int N> FW_INLINE void takeShifted(u32 (&out)[N], u32 (&words)[2 * N], u32 shift) {
#pragma unroll
  for (u32 by = N / 2; by > 0; by /= 2)
    if (shift & 4 * by)
#pragma unroll
      for (u32 k = 0; k + by < 2 * N; ++k)
        words[k] = words[k + by];
  const u32 bits = shift % 4 * 8;
#pragma unroll
  for (int k = 0; k < N; ++k)
    out[k] = static_cast<u32>((static_cast<u64>(words[k + 1]) << 32 | words[k]) >> bits);
}

/// Elements [i, i + W) of `count` that stand at `base` on no boundary but their own. What lies in
/// two neighbouring granules of the access is read as two and shifted; at the array's end, where a
/// granule would reach beyond, element by element. Before its start a granule stays in the memory
/// that the array was taken from, which begins on a boundary.
template <int W, class T>
FW_INLINE void loadColumnShifted(Raw<T, W> &out, const T *base, u32 i, u32 count) {
  constexpr u32 BYTES = Raw<T, W>::BYTES;
  using Word = typename Raw<T, W>::Word;
  if constexpr (W == 1) {
    loadColumn<W>(out, base, i);
  } else {
    const u64 begin = reinterpret_cast<u64>(base), at = begin + static_cast<u64>(i) * sizeof(T);
    const u32 shift = static_cast<u32>(at % BYTES);
    const u64 granule = at - shift, end = begin + static_cast<u64>(count) * sizeof(T);
    if (shift == 0) {
      loadColumnWords(out.words, at);
    } else if (BYTES < 4 || granule + 2 * BYTES > end) {
      constexpr int PER_WORD = sizeof(Word) / sizeof(T) == 0 ? 1 : sizeof(Word) / sizeof(T);
      constexpr int WORDS_EACH = sizeof(T) / sizeof(Word) == 0 ? 1 : sizeof(T) / sizeof(Word);
#pragma unroll
      for (int k = 0; k < Raw<T, W>::WORDS; ++k)
        out.words[k] = 0;
#pragma unroll
      for (int k = 0; k < W; ++k) {
        Raw<T, 1> one;
        loadColumn<1>(one, base, i + k);
        if constexpr (PER_WORD == 1)
#pragma unroll
          for (int part = 0; part < WORDS_EACH; ++part)
            out.words[k * WORDS_EACH + part] = one.words[part];
        else
          out.words[k / PER_WORD] |=
              static_cast<Word>(static_cast<u32>(one.words[0]) << k % PER_WORD * 8 * sizeof(T));
      }
    } else if constexpr (BYTES >= 4) {
      constexpr int N = BYTES / 4;
      u32 low[N], high[N], words[2 * N];
      loadColumnWords(low, granule);
      loadColumnWords(high, granule + BYTES);
#pragma unroll
      for (int k = 0; k < N; ++k)
        words[k] = low[k], words[N + k] = high[k];
      takeShifted(out.words, words, shift);
    }
  }
}

template <int W, class T> FW_INLINE void loadColumn(ColumnRaw<T, W> &out, const T *base, u32 i) {
  constexpr int PART = ColumnRaw<T, W>::PART;
#pragma unroll
  for (int k = 0; k < W / PART; ++k)
    loadColumn<PART>(out.parts[k], base, i + k * PART);
}
template <int W, class T>
FW_INLINE void loadColumnShifted(ColumnRaw<T, W> &out, const T *base, u32 i, u32 count) {
  constexpr int PART = ColumnRaw<T, W>::PART;
#pragma unroll
  for (int k = 0; k < W / PART; ++k)
    loadColumnShifted<PART>(out.parts[k], base, i + k * PART, count);
}

} // namespace fw
