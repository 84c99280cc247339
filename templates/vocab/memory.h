// Raw<T, W>: the storage words of W neighbouring elements; load and store move them with one access
// of the whole size (16, 8, 4, 2 or 1 bytes); get and set read and write one element as a number.
#pragma once

#include "templates/vocab/dtypes.h"

#if !defined(__CUDACC__)
/// Host twins report every access here; the emulator checks its alignment.
extern "C" void fw_emulator_access(const void *address, unsigned bytes, int isStore);
#endif

namespace fw {

template <int BYTES> struct WordOf {
  using Type = u32;
};
template <> struct WordOf<2> {
  using Type = u16;
};
template <> struct WordOf<1> {
  using Type = u8;
};

template <class T, int W> struct Raw {
  static constexpr int BYTES = W * static_cast<int>(sizeof(T));
  static_assert(BYTES <= 16 && (BYTES & (BYTES - 1)) == 0,
                "one access moves 1, 2, 4, 8 or 16 bytes");
  using Word = typename WordOf<BYTES>::Type;
  static constexpr int WORDS = BYTES / static_cast<int>(sizeof(Word));
  Word words[WORDS];
};

/// Operand `k` of the tensor whose row of the pointer table is `pointers`.
template <class T> FW_INLINE T *pointer(const u64 *pointers, int k) {
  return reinterpret_cast<T *>(pointers[k]);
}

#if defined(__CUDACC__)

// Addresses come from a table in memory, so the compiler cannot tell that they are global: the
// instructions say so. They are volatile to stay in program order, all loads of a step first; they
// clobber nothing, as no other access of a kernel reads tensor data.
#if FW_HAS_L2_POLICY
#define FW_LD(type, outs, address) "ld.global.L2::cache_hint." type " " outs ", [" address "]"
#define FW_LD_POLICY(operand) ", " operand ";"
#else
#define FW_LD(type, outs, address) "ld.global." type " " outs ", [" address "]"
#define FW_LD_POLICY(operand) ";"
#endif

FW_INLINE void loadWords(u32 (&w)[4], u64 address, u64 policy) {
  asm volatile(FW_LD("v4.u32", "{%0, %1, %2, %3}", "%4") FW_LD_POLICY("%5")
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "l"(address), "l"(policy));
}
FW_INLINE void loadWords(u32 (&w)[2], u64 address, u64 policy) {
  asm volatile(FW_LD("v2.u32", "{%0, %1}", "%2") FW_LD_POLICY("%3")
               : "=r"(w[0]), "=r"(w[1])
               : "l"(address), "l"(policy));
}
FW_INLINE void loadWords(u32 (&w)[1], u64 address, u64 policy) {
  asm volatile(FW_LD("u32", "%0", "%1") FW_LD_POLICY("%2")
               : "=r"(w[0])
               : "l"(address), "l"(policy));
}
FW_INLINE void loadWords(u16 (&w)[1], u64 address, u64 policy) {
  asm volatile(FW_LD("u16", "%0", "%1") FW_LD_POLICY("%2")
               : "=h"(w[0])
               : "l"(address), "l"(policy));
}
FW_INLINE void loadWords(u8 (&w)[1], u64 address, u64 policy) {
  u16 wide; // inline PTX has no 8-bit register
  asm volatile(FW_LD("u8", "%0", "%1") FW_LD_POLICY("%2") : "=h"(wide) : "l"(address), "l"(policy));
  w[0] = static_cast<u8>(wide);
}

#undef FW_LD
#undef FW_LD_POLICY

FW_INLINE void storeWords(const u32 (&w)[4], u64 address) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w[0]), "r"(w[1]),
               "r"(w[2]), "r"(w[3]));
}
FW_INLINE void storeWords(const u32 (&w)[2], u64 address) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w[0]), "r"(w[1]));
}
FW_INLINE void storeWords(const u32 (&w)[1], u64 address) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(w[0]));
}
FW_INLINE void storeWords(const u16 (&w)[1], u64 address) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "h"(w[0]));
}
FW_INLINE void storeWords(const u8 (&w)[1], u64 address) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "h"(static_cast<u16>(w[0])));
}

#else

template <class Word, int N> void loadWords(Word (&w)[N], u64 address, u64) {
  fw_emulator_access(reinterpret_cast<const void *>(address), sizeof(w), 0);
  __builtin_memcpy(w, reinterpret_cast<const void *>(address), sizeof(w));
}
template <class Word, int N> void storeWords(const Word (&w)[N], u64 address) {
  fw_emulator_access(reinterpret_cast<const void *>(address), sizeof(w), 1);
  __builtin_memcpy(reinterpret_cast<void *>(address), w, sizeof(w));
}

#endif

/// Elements [i, i + W) of `base`; element i must stand on a boundary of the access.
template <int W, class T> FW_INLINE void load(Raw<T, W> &out, const T *base, u64 i, u64 policy) {
  loadWords(out.words, reinterpret_cast<u64>(base) + i * sizeof(T), policy);
}
template <int W, class T> FW_INLINE void store(const Raw<T, W> &in, T *base, u64 i) {
  storeWords(in.words, reinterpret_cast<u64>(base) + i * sizeof(T));
}

/// Element k, exact. `k` is known after unrolling, so this is a register and at most one shift.
template <class T, int W> FW_INLINE typename Codec<T>::Real get(const Raw<T, W> &raw, int k) {
  using Bits = typename Codec<T>::Bits;
  using Word = typename Raw<T, W>::Word;
  if constexpr (sizeof(T) == 8) {
    const u64 high = raw.words[2 * k + 1];
    return Codec<T>::decode(high << 32 | raw.words[2 * k]);
  } else {
    constexpr int PER_WORD = sizeof(Word) / sizeof(T);
    const u32 word = raw.words[k / PER_WORD];
    return Codec<T>::decode(static_cast<Bits>(word >> k % PER_WORD * 8 * sizeof(T)));
  }
}

/// Element k becomes `x` rounded once to T. Elements are set in order from 0: setting the lowest of
/// a word clears the others.
template <class T, int W, class Real> FW_INLINE void set(Raw<T, W> &raw, int k, Real x) {
  using Word = typename Raw<T, W>::Word;
  const auto bits = Codec<T>::encode(x);
  if constexpr (sizeof(T) == 8) {
    raw.words[2 * k] = static_cast<u32>(bits);
    raw.words[2 * k + 1] = static_cast<u32>(bits >> 32);
  } else {
    constexpr int PER_WORD = sizeof(Word) / sizeof(T);
    const u32 shifted = static_cast<u32>(bits) << k % PER_WORD * 8 * sizeof(T);
    const u32 before = k % PER_WORD == 0 ? 0 : raw.words[k / PER_WORD];
    raw.words[k / PER_WORD] = static_cast<Word>(before | shifted);
  }
}

} // namespace fw
