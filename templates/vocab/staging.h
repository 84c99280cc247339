// Copies from memory to shared memory that a thread does not wait for, each to a place that it
// alone reads: no barrier lies between a copy and its use, a wait is all it takes. Copies are
// counted in groups, which end in order.
//
// Loads take one of two policies beside those of memory.h: Fill asks for the elements and leaves
// them out, Take reads what an equal load has filled. Both go through a stage by a cursor, so the
// same loads in the same order meet the same places.
#pragma once

#include "templates/vocab/memory.h"
#include "templates/vocab/shared.h"

#if !defined(__CUDACC__)
extern "C" void fw_emulator_stage(void *to, const void *from, unsigned bytes);
extern "C" void fw_emulator_stage_commit();
extern "C" void fw_emulator_stage_wait(unsigned pending);
#endif

namespace fw {

#if defined(__CUDACC__)
using SharedAddress = u32;
FW_INLINE SharedAddress sharedAddress(const void *p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
#else
using SharedAddress = u64;
inline SharedAddress sharedAddress(const void *p) { return reinterpret_cast<u64>(p); }
#endif

/// Where the next load of a stage has its place: each thread of the block has one of them, side by
/// side.
struct StageCursor {
  SharedAddress at;
};
template <u32 THREADS> struct Fill {
  StageCursor *cursor;
  u64 policy; // one of L2
};
template <u32 THREADS> struct Take {
  StageCursor *cursor;
};

/// This thread's place for BYTES bytes; the cursor goes behind those of the block.
template <u32 THREADS, int BYTES> FW_INLINE SharedAddress placeAt(StageCursor &cursor) {
  const SharedAddress at = cursor.at + threadIdx.x * BYTES;
  cursor.at += THREADS * BYTES;
  return at;
}

#if defined(__CUDACC__)

FW_INLINE void takeWords(u32 (&w)[4], SharedAddress at) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(at));
}
FW_INLINE void takeWords(u32 (&w)[2], SharedAddress at) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(at));
}
FW_INLINE void takeWords(u32 (&w)[1], SharedAddress at) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(at));
}
FW_INLINE void takeWords(u16 (&w)[1], SharedAddress at) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(w[0]) : "r"(at));
}
FW_INLINE void takeWords(u8 (&w)[1], SharedAddress at) {
  u16 wide;
  asm volatile("ld.shared.u8 %0, [%1];" : "=h"(wide) : "r"(at));
  w[0] = static_cast<u8>(wide);
}
FW_INLINE void leaveWords(const u32 (&w)[4], SharedAddress at) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(w[0]), "r"(w[1]),
               "r"(w[2]), "r"(w[3]));
}
FW_INLINE void leaveWords(const u32 (&w)[2], SharedAddress at) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(w[0]), "r"(w[1]));
}
FW_INLINE void leaveWords(const u32 (&w)[1], SharedAddress at) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(w[0]));
}
FW_INLINE void leaveWords(const u16 (&w)[1], SharedAddress at) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(w[0]));
}
FW_INLINE void leaveWords(const u8 (&w)[1], SharedAddress at) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "h"(static_cast<u16>(w[0])));
}

#if FW_HAS_CP_ASYNC
template <int BYTES> FW_INLINE void stageBytes(SharedAddress to, u64 from, u64 policy) {
#if FW_HAS_L2_POLICY
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(from), "l"(policy));
  else
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %3, %2;" ::"r"(to),
                 "l"(from), "l"(policy), "n"(BYTES));
#else
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES));
#endif
}
/// Ends a group.
FW_INLINE void commitStage() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until all groups of this thread but the last PENDING are there.
template <int PENDING> FW_INLINE void waitStage() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
#else
FW_INLINE void commitStage() {}
template <int PENDING> FW_INLINE void waitStage() {}
#endif

#else

template <class Word, int N> void takeWords(Word (&w)[N], SharedAddress at) { loadWords(w, at, 0); }
template <class Word, int N> void leaveWords(const Word (&w)[N], SharedAddress at) {
  storeWords(w, at);
}
template <int BYTES> void stageBytes(SharedAddress to, u64 from, u64) {
  fw_emulator_stage(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), BYTES);
}
inline void commitStage() { fw_emulator_stage_commit(); }
template <int PENDING> void waitStage() { fw_emulator_stage_wait(PENDING); }

#endif

/// Copies are of 4 bytes at least, and older archs have none: the words go through registers.
template <int BYTES> FW_INLINE constexpr bool hasStageCopy() {
#if defined(__CUDACC__) && !FW_HAS_CP_ASYNC
  return false;
#else
  return BYTES >= 4;
#endif
}

template <int W, class T, u32 THREADS>
FW_INLINE void load(Raw<T, W> &out, const T *base, u64 i, Fill<THREADS> fill) {
  constexpr int BYTES = Raw<T, W>::BYTES;
  const SharedAddress to = placeAt<THREADS, BYTES>(*fill.cursor);
  const u64 from = reinterpret_cast<u64>(base) + i * sizeof(T);
#if !defined(__CUDACC__) || FW_HAS_CP_ASYNC
  if constexpr (hasStageCopy<BYTES>()) {
    stageBytes<BYTES>(to, from, fill.policy);
    return;
  }
#endif
  if constexpr (!hasStageCopy<BYTES>()) {
    loadWords(out.words, from, fill.policy);
    leaveWords(out.words, to);
  }
}
template <int W, class T, u32 THREADS>
FW_INLINE void load(Raw<T, W> &out, const T *, u64, Take<THREADS> take) {
  takeWords(out.words, placeAt<THREADS, Raw<T, W>::BYTES>(*take.cursor));
}

} // namespace fw
