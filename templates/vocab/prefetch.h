// Asking for far memory before it is needed.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

/// Brings the line of `address` to the L2; nothing that a program can see.
#if defined(__CUDACC__)
FW_INLINE void prefetch(const void *address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
#else
FW_INLINE void prefetch(const void *) {}
#endif

/// The `bytes` from `from` on, a line by each of THREADS threads in turn.
template <u32 THREADS> FW_INLINE void prefetchAll(const void *from, u32 bytes) {
  constexpr u32 LINE = 128;
#pragma unroll 1
  for (u32 at = threadIdx.x * LINE; at < bytes; at += THREADS * LINE)
    prefetch(static_cast<const char *>(from) + at);
}

} // namespace fw
