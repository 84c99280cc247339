// Skeleton `chunk` of pattern `elements`: one block walks one chunk record of a list of tensors.
//
// The printer writes an Op; its In and Out are structs of Raw words:
//
//   struct Op {
//     static constexpr int V, INFLIGHT, THREADS, OPERANDS, SLOTS;   using Real = float or double;
//     template <int W> struct In;   template <int W> struct Out;   struct Uniform;
//     static Uniform uniform(const Real *scalars);
//     template <int W> static void load(In<W> &, const u64 *pointers, u64 i, u64 policy);
//     template <int W> static void emit(const In<W> &, const Uniform &, Out<W> &);
//     template <int W> static void store(const Out<W> &, const u64 *pointers, u64 i);
//   };
//
// A plain grid, one block per record: on an H200 it reached 95-100 % of a copy where a persistent
// grid of one wave reached 86 %. Each thread asks for INFLIGHT vectors of every stream before it
// computes, which is what hides the latency of memory.
#pragma once

#include "templates/vocab/launch.h"
#include "templates/vocab/memory.h"

namespace fw {

/// Elements [i, i + W): load, compute, store.
template <class Op, int W>
FW_DEVICE void each(const u64 *pointers, const typename Op::Uniform &uniform, u64 i, u64 policy) {
  typename Op::template In<W> in;
  typename Op::template Out<W> out;
  Op::template load<W>(in, pointers, i, policy);
  Op::template emit<W>(in, uniform, out);
  Op::template store<W>(out, pointers, i);
}

/// Head and tail of the chunk, one element a thread: the `head` elements from `first` on and all
/// elements from `tail` to `end` are taken as one range, so that the body stands here once.
template <class Op>
FW_DEVICE void singles(const Chunk &chunk, u64 tail, const u64 *pointers,
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
FW_DEVICE void vectors(u64 first, u32 count, const u64 *pointers,
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

/// Body of the kernel: block b takes record b of `chunks`.
template <class Op>
FW_DEVICE void chunk(const Chunk *chunks, const u64 *pointerTable,
                     const typename Op::Real *scalarTable, u64 policy) {
  const Chunk record = chunks[blockIdx.x];
  // Pointers and scalars are asked for together, straight after the record that names their rows.
  u64 pointers[Op::OPERANDS];
#pragma unroll
  for (int k = 0; k < Op::OPERANDS; ++k)
    pointers[k] = pointerTable[static_cast<u64>(record.tensor) * Op::OPERANDS + k];
  const typename Op::Uniform uniform =
      Op::uniform(scalarTable + static_cast<u64>(record.scalars) * Op::SLOTS);

  const u64 first = record.first + record.head;
  const u32 whole = (record.count - record.head) / Op::V;
  vectors<Op>(first, whole, pointers, uniform, policy);
  singles<Op>(record, first + static_cast<u64>(whole) * Op::V, pointers, uniform, policy);
}

} // namespace fw
