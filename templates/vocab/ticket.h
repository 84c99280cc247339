// How the blocks of a grid leave results to the one that finishes last.
//
// Memory order: one thread of a block publishes the block's results and then draws a ticket; the
// fence between makes the results seen before the ticket is. The thread that draws the last ticket
// fences in turn and so sees what all holders of earlier tickets had published; the other threads
// of its block see it behind the next barrier of the block. Results are observed at the place where
// all blocks meet, past any cache of an SM.
#pragma once

#include "templates/vocab/prelude.h"

#if !defined(__CUDACC__)
extern "C" void fw_emulator_publish(double *address, double value);
extern "C" double fw_emulator_observe(const double *address);
extern "C" void fw_emulator_fence();
extern "C" unsigned fw_emulator_ticket(unsigned *ticket, unsigned last);
#endif

namespace fw {

#if defined(__CUDACC__)
/// A result for other blocks, which see it once a fence and a ticket have followed.
FW_INLINE void publish(double *address, double value) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(address), "d"(value) : "memory");
}
/// What a block has published.
FW_INLINE double observe(const double *address) {
  double value;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(address));
  return value;
}
FW_INLINE void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// 0, 1, ..., last, and 0 again: behind the last ticket, memory is as it was before the first.
FW_INLINE u32 drawTicket(u32 *ticket, u32 last) {
  u32 drawn;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(drawn)
               : "l"(ticket), "r"(last)
               : "memory");
  return drawn;
}
#else
FW_INLINE void publish(double *address, double value) { fw_emulator_publish(address, value); }
FW_INLINE double observe(const double *address) { return fw_emulator_observe(address); }
FW_INLINE void fence() { fw_emulator_fence(); }
FW_INLINE u32 drawTicket(u32 *ticket, u32 last) { return fw_emulator_ticket(ticket, last); }
#endif

/// Called once per block, behind what it publishes: whether all `blocks` have come by now.
FW_INLINE bool arrivesLast(u32 *ticket, u32 blocks) {
  fence();
  const bool isLast = drawTicket(ticket, blocks - 1) == blocks - 1;
  if (isLast)
    fence();
  return isLast;
}

} // namespace fw
