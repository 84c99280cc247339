// Loads of streams that a block reads more than once: a line stays in the first cache until the
// last of them. Stores would push it out there, and a second level holds less than all blocks read.
#pragma once

#include "templates/vocab/launch.h"
#include "templates/vocab/memory.h"

namespace fw {

/// Policy of a load whose line the block reads again, and of the last load of it.
struct Again {
  u64 policy; // one of L2
};
struct Last {};

#if defined(__CUDACC__)
#if FW_HAS_L2_POLICY
#define FW_LD(level, type, outs, address)                                                          \
  "ld.global.L1::" level ".L2::cache_hint." type " " outs ", [" address "]"
#define FW_LD_POLICY(operand) ", " operand ";"
#else
#define FW_LD(level, type, outs, address) "ld.global.L1::" level "." type " " outs ", [" address "]"
#define FW_LD_POLICY(operand) ";"
#endif

// The loads of memory.h with a word to the first cache, for a policy of type `Policy`.
#define FW_REREAD(Policy, level, value)                                                            \
  FW_INLINE void loadWords(u32(&w)[4], u64 address, Policy policy) {                               \
    asm volatile(FW_LD(level, "v4.u32", "{%0, %1, %2, %3}", "%4") FW_LD_POLICY("%5")               \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                  \
                 : "l"(address), "l"(value));                                                      \
  }                                                                                                \
  FW_INLINE void loadWords(u32(&w)[2], u64 address, Policy policy) {                               \
    asm volatile(FW_LD(level, "v2.u32", "{%0, %1}", "%2") FW_LD_POLICY("%3")                       \
                 : "=r"(w[0]), "=r"(w[1])                                                          \
                 : "l"(address), "l"(value));                                                      \
  }                                                                                                \
  FW_INLINE void loadWords(u32(&w)[1], u64 address, Policy policy) {                               \
    asm volatile(FW_LD(level, "u32", "%0", "%1") FW_LD_POLICY("%2")                                \
                 : "=r"(w[0])                                                                      \
                 : "l"(address), "l"(value));                                                      \
  }                                                                                                \
  FW_INLINE void loadWords(u16(&w)[1], u64 address, Policy policy) {                               \
    asm volatile(FW_LD(level, "u16", "%0", "%1") FW_LD_POLICY("%2")                                \
                 : "=h"(w[0])                                                                      \
                 : "l"(address), "l"(value));                                                      \
  }                                                                                                \
  FW_INLINE void loadWords(u8(&w)[1], u64 address, Policy policy) {                                \
    u16 wide;                                                                                      \
    asm volatile(FW_LD(level, "u8", "%0", "%1") FW_LD_POLICY("%2")                                 \
                 : "=h"(wide)                                                                      \
                 : "l"(address), "l"(value));                                                      \
    w[0] = static_cast<u8>(wide);                                                                  \
  }
FW_REREAD(Again, "evict_last", policy.policy)
FW_REREAD(Last, "evict_first", L2::EVICT_FIRST)
#undef FW_REREAD
#undef FW_LD
#undef FW_LD_POLICY
#else
template <class Word, int N> void loadWords(Word (&w)[N], u64 address, Again again) {
  loadWords(w, address, again.policy);
}
template <class Word, int N> void loadWords(Word (&w)[N], u64 address, Last) {
  loadWords(w, address, L2::EVICT_FIRST);
}
#endif

template <int W, class T> FW_INLINE void load(Raw<T, W> &out, const T *base, u64 i, Again policy) {
  loadWords(out.words, reinterpret_cast<u64>(base) + i * sizeof(T), policy);
}
template <int W, class T> FW_INLINE void load(Raw<T, W> &out, const T *base, u64 i, Last policy) {
  loadWords(out.words, reinterpret_cast<u64>(base) + i * sizeof(T), policy);
}

} // namespace fw
