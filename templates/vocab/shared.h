// Memory and barriers that the threads of a block share.
#pragma once

#include "templates/vocab/prelude.h"

#if !defined(__CUDACC__)
extern "C" void *fw_emulator_shared(__SIZE_TYPE__ bytes, __SIZE_TYPE__ alignment);
extern "C" void fw_emulator_barrier(unsigned id, unsigned threads, int line);
#else
extern __shared__ __align__(128) unsigned char fw_shared_bytes[];
#endif

namespace fw {

/// All shared memory of a kernel: one object of the skeleton's struct, of which a launch asks for
/// sizeof(S) bytes. Its contents are undefined at the start of a block.
template <class S> FW_INLINE S &shared() {
  static_assert(alignof(S) <= 128, "the device aligns shared memory to 128 bytes");
#if defined(__CUDACC__)
  return *reinterpret_cast<S *>(fw_shared_bytes);
#else
  return *static_cast<S *>(fw_emulator_shared(sizeof(S), alignof(S)));
#endif
}

/// bar.sync: waits until `threads` threads, whole warps, have come to barrier `id` (1 to 15).
#if defined(__CUDACC__)
FW_INLINE void barrier(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#else
FW_INLINE void barrier(u32 id, u32 threads, int line = __builtin_LINE()) {
  fw_emulator_barrier(id, threads, line);
}
#endif

} // namespace fw
