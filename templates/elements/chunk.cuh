// Skeleton `chunk` of pattern `elements`: one block walks one chunk of a list of tensors.
//
// The printer writes an Op; its In and Out are structs of Raw words:
//
//   struct Op {
//     static constexpr int V, INFLIGHT, THREADS, CHUNK, OPERANDS, SLOTS;
//     using Real = float or double;   using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
//     template <int W> struct In;   template <int W> struct Out;   struct Uniform;
//     static Uniform uniform(const Real *scalars);
//     template <int W> static void load(In<W> &, const u64 *pointers, u64 i, u64 policy);
//     template <int W> static void emit(const In<W> &, const Uniform &, Out<W> &);
//     template <int W> static void store(const Out<W> &, const u64 *pointers, u64 i);
//     static bool skip(const Uniform &);   not there where every launch stores
//     static constexpr bool EARLY = true;   only where the kernel may start before the one before
//                                           it has ended
//   };
//
// A plain grid, one block per chunk: on an H200 it reached 95-100 % of a copy where a persistent
// grid of one wave reached 86 %. Each thread asks for INFLIGHT vectors of every stream before it
// computes, which is what hides the latency of memory.
#pragma once

#include "templates/vocab/early_launch.h"
#include "templates/vocab/launch.h"
#include "templates/vocab/memory.h"

namespace fw {

/// Elements [i, i + W): load, compute, store.
template <class Op, int W>
FW_INLINE void each(const u64 *pointers, const typename Op::Uniform &uniform, u64 i, u64 policy) {
  typename Op::template In<W> in;
  typename Op::template Out<W> out;
  Op::template load<W>(in, pointers, i, policy);
  Op::template emit<W>(in, uniform, out);
  Op::template store<W>(out, pointers, i);
}

/// Head and tail of the chunk, one element a thread: the `head` elements from `first` on and all
/// elements from `tail` to `end` are taken as one range, so that the body stands here once.
template <class Op>
FW_INLINE void singles(const Chunk &chunk, u64 tail, const u64 *pointers,
                       const typename Op::Uniform &uniform, u64 policy) {
  const u64 end = chunk.first + chunk.count;
  const u32 count = chunk.head + static_cast<u32>(end - tail);
#pragma unroll 1
  for (u32 k = threadIdx.x; k < count; k += Op::THREADS) {
    const u64 i = k < chunk.head ? chunk.first + k : tail + (k - chunk.head);
    each<Op, 1>(pointers, uniform, i, policy);
  }
}

/// The whole vectors of the chunk, `first` being the element where vector 0 starts.
template <class Op>
FW_INLINE void vectors(u64 first, u32 count, const u64 *pointers,
                       const typename Op::Uniform &uniform, u64 policy) {
  constexpr int V = Op::V, INFLIGHT = Op::INFLIGHT;
#pragma unroll 1
  for (u32 vector = threadIdx.x; vector < count; vector += INFLIGHT * Op::THREADS) {
    typename Op::template In<V> in[INFLIGHT];
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      if (const u32 at = vector + k * Op::THREADS; at < count)
        Op::template load<V>(in[k], pointers, first + static_cast<u64>(at) * V, policy);
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      if (const u32 at = vector + k * Op::THREADS; at < count) {
        typename Op::template Out<V> out;
        Op::template emit<V>(in[k], uniform, out);
        Op::template store<V>(out, pointers, first + static_cast<u64>(at) * V);
      }
  }
}

/// What a block works on: its chunk, where the chunk's operands stand, and its scalars.
template <class Op> struct Work {
  Chunk chunk;
  u64 pointers[Op::OPERANDS];
  typename Op::Uniform uniform;
};

/// A kernel behind one that has read the same tensors begins where that one ended: some of it is
/// still in the L2 cache.
template <class Op> FW_INLINE auto recordOf(int) -> decltype(Op::EARLY, u32()) {
  return gridDim.x - 1 - blockIdx.x;
}
template <class Op> FW_INLINE u32 recordOf(long) { return blockIdx.x; }

/// A block of a plan takes one record. The pointers are asked for straight after it.
template <class Op> FW_INLINE void readPlace(Work<Op> &work, const typename Op::Launch &launch) {
  work.chunk = launch.chunks[recordOf<Op>(0)];
#pragma unroll
  for (int k = 0; k < Op::OPERANDS; ++k)
    work.pointers[k] = launch.pointers[k][work.chunk.segment];
}

template <class Op> FW_INLINE void readScalars(Work<Op> &work, const typename Op::Launch &launch) {
  // Two reads, each from memory of its own kind: one through a pointer to either would be generic.
  const u64 scalar =
      static_cast<u64>(launch.perEntry ? work.chunk.entry : work.chunk.group) * Op::SLOTS;
  if (launch.scalars)
    work.uniform = Op::uniform(launch.scalars + scalar);
  else
    work.uniform = Op::uniform(launch.rows + scalar);
}

/// Block b of a one-shot launch cuts its chunk out of the segment that it belongs to. The search
/// goes downwards, and the scalars are read here: otherwise the loops behind get up to 8 registers
/// less than they have beside readPlace alone, and spill.
template <class Op> FW_INLINE void cutWork(Work<Op> &work, const typename Op::Launch &launch) {
  u32 s = launch.segmentCount - 1;
#pragma unroll 1
  while (launch.segments[s].firstBlock > blockIdx.x)
    --s;
  const Segment &segment = launch.segments[s];
  work.chunk = chunkOf(segment, blockIdx.x - segment.firstBlock, Op::CHUNK);
#pragma unroll
  for (int k = 0; k < Op::OPERANDS; ++k)
    work.pointers[k] = launch.addresses[s][k];
  work.uniform = Op::uniform(launch.rows + segment.row * Op::SLOTS);
}

/// Whether the step is skipped: an Op may say so.
template <class Op>
FW_INLINE auto skips(const typename Op::Uniform &uniform, int) -> decltype(Op::skip(uniform)) {
  return Op::skip(uniform);
}
template <class Op> FW_INLINE bool skips(const typename Op::Uniform &, long) { return false; }

/// Before the kernel reads what the one before it writes, which is the scalars: an Op with EARLY
/// may have started while that one still runs.
template <class Op> FW_INLINE auto startEarly(int) -> decltype(Op::EARLY, void()) {
  waitForPrevious();
}
template <class Op> FW_INLINE void startEarly(long) {}

/// Body of the kernel.
template <class Op> FW_INLINE void chunk(const typename Op::Launch &launch) {
  Work<Op> work;
  if (launch.chunks) {
    startEarly<Op>(0);
    readPlace<Op>(work, launch);
    readScalars<Op>(work, launch);
  } else {
    cutWork<Op>(work, launch);
  }

  // The scalars come while the pointers do, which the loads behind wait for anyway.
  if (skips<Op>(work.uniform, 0))
    return;
  const Chunk &chunk = work.chunk;
  const u64 first = chunk.first + chunk.head;
  const u32 whole = (chunk.count - chunk.head) / Op::V;
  vectors<Op>(first, whole, work.pointers, work.uniform, launch.policy);
  singles<Op>(chunk, first + static_cast<u64>(whole) * Op::V, work.pointers, work.uniform,
              launch.policy);
}

} // namespace fw
