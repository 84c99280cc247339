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

/// `words` of two neighbouring granules, from byte `shift` on; shift < 4 * N.
template <int N> FW_INLINE void takeShifted(u32 (&out)[N], u32 (&words)[2 * N], u32 shift) {
#pragma unroll
  for (u32 by = N / 2; by > 0; by /= 2) {
    const bool isFar = shift & 4 * by;
#pragma unroll
    for (u32 k = 0; k + by < 2 * N; ++k)
      words[k] = isFar ? words[k + by] : words[k];
  }
  const u32 bits = shift % 4 * 8;
#pragma unroll
  for (int k = 0; k < N; ++k)
    out[k] = static_cast<u32>((static_cast<u64>(words[k + 1]) << 32 | words[k]) >> bits);
}

/// Elements [i, i + W) of an array that stand at `base` on no boundary but their own: the two
/// granules of the access that hold them, shifted, without a branch. So W more elements than these
/// must lie in the array; before its start a granule stays in the memory that the array was taken
/// from, which begins on a boundary.
template <int W, class T> FW_INLINE void loadColumnShifted(Raw<T, W> &out, const T *base, u32 i) {
  constexpr u32 BYTES = Raw<T, W>::BYTES;
  if constexpr (W == 1) {
    loadColumn<W>(out, base, i);
  } else if constexpr (BYTES < 4) {
    static_assert(BYTES == 2 && sizeof(T) == 1, "two bytes in one word");
    Raw<T, 1> low, high;
    loadColumn<1>(low, base, i);
    loadColumn<1>(high, base, i + 1);
    out.words[0] = static_cast<u16>(low.words[0] | high.words[0] << 8);
  } else {
    constexpr int N = BYTES / 4;
    const u64 at = reinterpret_cast<u64>(base) + static_cast<u64>(i) * sizeof(T);
    const u32 shift = static_cast<u32>(at % BYTES);
    u32 low[N], high[N], words[2 * N];
    loadColumnWords(low, at - shift);
    loadColumnWords(high, at - shift + BYTES);
#pragma unroll
    for (int k = 0; k < N; ++k)
      words[k] = low[k], words[N + k] = high[k];
    takeShifted(out.words, words, shift);
  }
}

template <int W, class T> FW_INLINE void loadColumn(ColumnRaw<T, W> &out, const T *base, u32 i) {
  constexpr int PART = ColumnRaw<T, W>::PART;
#pragma unroll
  for (int k = 0; k < W / PART; ++k)
    loadColumn<PART>(out.parts[k], base, i + k * PART);
}
template <int W, class T>
FW_INLINE void loadColumnShifted(ColumnRaw<T, W> &out, const T *base, u32 i) {
  constexpr int PART = ColumnRaw<T, W>::PART;
#pragma unroll
  for (int k = 0; k < W / PART; ++k)
    loadColumnShifted<PART>(out.parts[k], base, i + k * PART);
}

} // namespace fw
