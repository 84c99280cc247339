// Skeleton `norm_last_block` of pattern `elements`: one block reduces one chunk of a list of
// tensors; the block that comes last merges all partials and runs the scalar programs behind.
//
// The printer writes an Op; its In is a struct of Raw words:
//
//   struct Op {
//     static constexpr int V, INFLIGHT, THREADS, BLOCKS, CHUNK, OPERANDS, SLOTS;
//     using Real = float or double;   using Launch = fw::ReduceLaunch<OPERANDS, SLOTS, Real>;
//     using Acc = fw::Accumulators<Real, a monoid per reduction: fw::Sum, fw::Max or fw::Min>;
//     static constexpr u32 PER_TENSOR;   bit r: reduction r keeps a tensor, else all
//     template <int W> struct In;   struct Uniform;
//     static Uniform uniform(const Real *scalars);
//     template <int W> static void load(In<W> &, const u64 *pointers, u64 i, u64 policy);
//     template <int W> static void map(const In<W> &, const Uniform &, Acc &);
//     static double scalar(ScalarCode code, double a, double b, double c);
//   };
//
// Order of the sums: a thread takes its vectors in order and then its single elements, in Real; the
// block's tree is that of vocab/reduce.h. Partials are one f64 per chunk, which is cut the same on
// every GPU. They are merged in f64: of what keeps all, thread t takes partials t, t + THREADS, ...
// and the block's tree follows. Those of a tensor are taken in order by one thread where they are
// few; otherwise lane l of a warp takes partials l, l + 32, ... and the warp's tree follows. So no
// result depends on the order in which blocks run. How a block sees the others' partials is told in
// vocab/ticket.h. The kernel behind may start early (vocab/early_launch.h): it waits for the last
// block before it reads what that writes.
#pragma once

#include "templates/elements/chunk.cuh"
#include "templates/scalars/interpreter.cuh"
#include "templates/vocab/early_launch.h"
#include "templates/vocab/reduce.h"
#include "templates/vocab/reduce_launch.h"
#include "templates/vocab/shared.h"
#include "templates/vocab/ticket.h"

namespace fw {

/// Numbers of the trees, and then the values of scalar programs.
struct ReduceShared {
  alignas(16) double numbers[ReduceTail::VALUES];
  u32 isLast;
};
static_assert(sizeof(ReduceShared) <= ReduceTail::SHARED_BYTES, "launches ask for no more");

/// The `whole` vectors of the chunk, of which number 0 starts at element `first`.
template <class Op>
FW_INLINE void reduceVectors(u64 first, u32 whole, const Work<Op> &work, u64 policy,
                             typename Op::Acc &acc) {
  constexpr int V = Op::V, INFLIGHT = Op::INFLIGHT;
#pragma unroll 1
  for (u32 vector = threadIdx.x; vector < whole; vector += Op::THREADS * INFLIGHT) {
    typename Op::template In<V> in[INFLIGHT];
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      if (const u32 at = vector + k * Op::THREADS; at < whole)
        Op::template load<V>(in[k], work.pointers, first + static_cast<u64>(at) * V, policy);
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      if (vector + k * Op::THREADS < whole)
        Op::template map<V>(in[k], work.uniform, acc);
  }
}

/// Head and tail of the chunk, one element a thread: the `head` elements from the first on and all
/// elements from `behind` on are taken as one range.
template <class Op>
FW_INLINE void reduceSingles(u64 behind, const Work<Op> &work, u64 policy, typename Op::Acc &acc) {
  const u64 first = work.chunk.first;
  const u32 head = work.chunk.head;
  const u32 lone = head + static_cast<u32>(first + work.chunk.count - behind);
#pragma unroll 1
  for (u32 k = threadIdx.x; k < lone; k += Op::THREADS) {
    const u64 i = k < head ? first + k : behind + (k - head);
    typename Op::template In<1> in;
    Op::template load<1>(in, work.pointers, i, policy);
    Op::template map<1>(in, work.uniform, acc);
  }
}

/// What a thread finds in the block's chunk.
template <class Op>
FW_INLINE void reduceChunk(const typename Op::Launch &launch, typename Op::Acc &acc) {
  Work<Op> work;
  readPlace<Op>(work, launch);
  readScalars<Op>(work, launch);
  const u64 first = work.chunk.first + work.chunk.head;
  const u32 whole = (work.chunk.count - work.chunk.head) / Op::V;
  reduceVectors<Op>(first, whole, work, launch.policy, acc);
  reduceSingles<Op>(first + static_cast<u64>(whole) * Op::V, work, launch.policy, acc);
}

/// Partials first, first + stride, ... below `end` in order, so many at a time that memory's
/// latency is hidden.
template <class Monoid>
FW_INLINE double mergeRange(const double *partials, u32 first, u32 end, u32 stride) {
  constexpr int BATCH = 8;
  double merged = Monoid::template identity<double>();
#pragma unroll 1
  for (; first < end; first += BATCH * stride) {
    double batch[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      if (first + k * stride < end)
        batch[k] = observe(partials + first + k * stride);
#pragma unroll
    for (int k = 0; k < BATCH; ++k)
      if (first + k * stride < end)
        merged = Monoid::merge(merged, batch[k]);
  }
  return merged;
}

/// Results of a reduction for each entry: those of few partials a thread each, the others a warp
/// each.
template <class Op, int R> FW_INLINE void mergeEntries(const ReduceTail &tail) {
  using Monoid = typename Op::Acc::template Monoid<R>;
  constexpr u32 FEW = 64, WARPS = Op::THREADS / WARP;
  const double *partials = tail.partials + static_cast<u64>(R) * tail.partialCount;
  double *results = tail.results + static_cast<u64>(R) * tail.entries;
  const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll 1
  for (u32 base = warp; base < tail.entries; base += Op::THREADS) {
    const u32 entry = base + lane * WARPS;
    const bool exists = entry < tail.entries;
    const u32 begin = exists ? tail.firstPartial[entry] : 0;
    const u32 end = exists ? tail.firstPartial[entry + 1] : 0;
    if (exists && end - begin <= FEW)
      results[entry] = mergeRange<Monoid>(partials, begin, end, 1);
#pragma unroll 1
    for (u32 many = ballot(end - begin > FEW); many != 0; many &= many - 1) {
      const u32 large = base + lowestBit(many) * WARPS;
      Accumulators<double, Monoid> acc;
      acc.values[0] = mergeRange<Monoid>(partials, tail.firstPartial[large] + lane,
                                         tail.firstPartial[large + 1], WARP);
      mergeWarp(acc);
      if (lane == 0)
        results[large] = acc.values[0];
    }
  }
}

template <class Op, int R = 0> FW_INLINE void mergeEachEntry(const ReduceTail &tail) {
  if constexpr (R < Op::Acc::COUNT) {
    if constexpr (Op::PER_TENSOR >> R & 1)
      mergeEntries<Op, R>(tail);
    mergeEachEntry<Op, R + 1>(tail);
  }
}

/// Of what keeps all, a thread's partials: those of all reductions are asked for together, and of
/// as many blocks as hide memory's latency.
template <class Op, class Acc> FW_INLINE void mergeAcross(const ReduceTail &tail, Acc &acc) {
  constexpr u32 BATCH = Acc::COUNT < 8 ? 8 / Acc::COUNT : 1;
#pragma unroll 1
  for (u32 first = threadIdx.x; first < tail.partialCount; first += BATCH * Op::THREADS) {
    Acc batch[BATCH];
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k)
      if (const u32 block = first + k * Op::THREADS; block < tail.partialCount)
#pragma unroll
        for (int r = 0; r < Acc::COUNT; ++r)
          if (!(Op::PER_TENSOR >> r & 1))
            batch[k].values[r] =
                observe(tail.partials + static_cast<u64>(r) * tail.partialCount + block);
#pragma unroll
    for (u32 k = 0; k < BATCH; ++k)
      if (first + k * Op::THREADS < tail.partialCount)
        merge(acc, batch[k]);
  }
}

/// All results, from all partials.
template <class Op> FW_INLINE void mergeAll(const ReduceTail &tail, ReduceShared &memory) {
  typename Op::Acc::template As<double> acc;
  mergeEachEntry<Op>(tail);
  constexpr u32 EVERY = 0xFFFFFFFFu >> (32 - Op::Acc::COUNT);
  if constexpr (Op::PER_TENSOR != EVERY) {
    mergeAcross<Op>(tail, acc);
    mergeBlock<Op::THREADS>(acc, memory.numbers);
    const u32 columns = tail.entries == 0 ? 1 : tail.entries;
    if (threadIdx.x == 0)
#pragma unroll
      for (int r = 0; r < Op::Acc::COUNT; ++r)
        if (!(Op::PER_TENSOR >> r & 1))
          tail.results[static_cast<u64>(r) * columns] = acc.values[r];
  }
}

/// Body of the kernel.
template <class Op> FW_INLINE void normLastBlock(const typename Op::Launch &launch) {
  const ReduceTail &tail = launch.tail;
  ReduceShared &memory = shared<ReduceShared>();
  typename Op::Acc acc;
  static_assert(Op::Acc::COUNT <= 32 && Op::Acc::COUNT * Op::THREADS / WARP <= ReduceTail::VALUES,
                "a bit of PER_TENSOR for each, and room for a number per warp");
  letNextStart();
  reduceChunk<Op>(launch, acc);
  mergeBlock<Op::THREADS>(acc, memory.numbers);
  if (threadIdx.x == 0) {
    double *partial = tail.partials + tail.partialOffset + blockIdx.x;
#pragma unroll
    for (int r = 0; r < Op::Acc::COUNT; ++r)
      publish(partial + static_cast<u64>(r) * tail.partialCount, acc.values[r]);
    if (tail.isLast)
      memory.isLast = arrivesLast(tail.ticket, gridDim.x);
  }
  if (!tail.isLast)
    return;
  __syncthreads(); // thread 0 knows which ticket it drew
  if (!memory.isLast)
    return;
  mergeAll<Op>(tail, memory);
  __syncthreads(); // the results are there, and no tree needs `numbers` any more
  runScalars<Op, Op::THREADS>(tail.programs, tail.programCount, memory.numbers, ReduceTail::VALUES);
}

} // namespace fw
