// The exchange between the threads of a row, for the skeletons of pattern `rows`.
#pragma once

#include "templates/rows/row_parts.cuh"
#include "templates/vocab/lanes.h"
#include "templates/vocab/shared.h"

namespace fw {

/// What a thread has found for exchange E of one row. Where the reduction is made about a reference
/// (a maximum, a mean), `acc` is about that of `own`, which stands for `count` elements.
template <class Op, int E> struct RowPartial {
  typename Op::template Reference<E> reference;
  typename Op::template Acc<E> acc;
  typename Op::Row own;
  typename Op::Real count = 0;
};

template <class Op, int E = 0> FW_INLINE constexpr u32 rowValues() {
  if constexpr (E == Op::EXCHANGES) {
    return 0;
  } else {
    constexpr u32 here =
        Op::template Reference<E>::COUNT + Op::template Acc<E>::COUNT + (Op::COUNTED ? 1 : 0);
    constexpr u32 behind = rowValues<Op, E + 1>();
    return here > behind ? here : behind;
  }
}

/// What the warps of a row hand each other.
template <class Op>
using RowValues = typename Op::Real[RowShape<Op>::ROWS][rowValues<Op>()][RowShape<Op>::WARPS];

/// Two sets of it, so that a warp may write the next exchange while another still reads this one:
/// one barrier lies between any two uses of a set.
template <class Op> struct RowShared {
  static constexpr u32 SETS = Op::EXCHANGES > 1 ? 2 : 1;
  RowValues<Op> values[SETS];
};

/// LANES lanes make one of their partials; `all` elements are in them where that is known.
template <class Op, int E, int LANES>
FW_INLINE void mergePartials(RowPartial<Op, E> &partial, const typename Op::Row &row,
                             const typename Op::Uniform &uniform, u32 all) {
  if constexpr (Op::template Reference<E>::COUNT > 0) {
    const typename Op::Row from = partial.own;
    const typename Op::Real count = partial.count;
    mergeLanes<LANES>(partial.reference);
    if constexpr (Op::COUNTED && RowShape<Op>::FULL) {
      partial.count = static_cast<typename Op::Real>(all);
    } else if constexpr (Op::COUNTED) {
      Accumulators<typename Op::Real, Sum> sum;
      sum.values[0] = count;
      mergeLanes<LANES>(sum);
      partial.count = sum.values[0];
    }
    partial.own = row;
    Op::template settle<E>(partial.reference, partial.count, uniform, partial.own);
    Op::template rebase<E>(partial.acc, from, partial.own, count);
  }
  mergeLanes<LANES>(partial.acc);
}

FW_INLINE constexpr u32 powerAtLeast(u32 n) {
  u32 power = 1;
  while (power < n)
    power *= 2;
  return power;
}

/// Leaves a warp's partial for the others, or takes that of warp `warp`.
template <class Op, int E, u32 WARPS>
FW_INLINE void leavePartial(const RowPartial<Op, E> &partial, u32 warp,
                            typename Op::Real (*values)[WARPS]) {
  constexpr int REFERENCES = Op::template Reference<E>::COUNT, ACCS = Op::template Acc<E>::COUNT;
  if constexpr (REFERENCES > 0)
#pragma unroll
    for (int r = 0; r < REFERENCES; ++r)
      values[r][warp] = partial.reference.values[r];
#pragma unroll
  for (int r = 0; r < ACCS; ++r)
    values[REFERENCES + r][warp] = partial.acc.values[r];
  if constexpr (Op::COUNTED)
    values[REFERENCES + ACCS][warp] = partial.count;
}
template <class Op, int E, u32 WARPS>
FW_INLINE void takePartial(RowPartial<Op, E> &partial, u32 warp,
                           const typename Op::Real (*values)[WARPS]) {
  constexpr int REFERENCES = Op::template Reference<E>::COUNT, ACCS = Op::template Acc<E>::COUNT;
  if constexpr (REFERENCES > 0)
#pragma unroll
    for (int r = 0; r < REFERENCES; ++r)
      partial.reference.values[r] = values[r][warp];
#pragma unroll
  for (int r = 0; r < ACCS; ++r)
    partial.acc.values[r] = values[REFERENCES + r][warp];
  if constexpr (Op::COUNTED)
    partial.count = values[REFERENCES + ACCS][warp];
}

/// The warps of the rows make one of their partials, which all threads of a row get. All threads of
/// the block come here.
template <class Op, int E, int U>
FW_INLINE void mergeWarps(RowPartial<Op, E> (&partials)[U], const typename Op::Row (&rows)[U],
                          const typename Op::Uniform &uniform, RowValues<Op> &set) {
  using Shape = RowShape<Op>;
  constexpr u32 WARPS = Shape::WARPS, LANES = powerAtLeast(WARPS);
  static_assert(LANES <= WARP, "a lane for each warp");
  const u32 group = threadIdx.x / Shape::THREADS, lane = threadIdx.x % WARP;
  const u32 warp = threadIdx.x % Shape::THREADS / WARP;
  if (lane == 0)
#pragma unroll
    for (int u = 0; u < U; ++u)
      leavePartial<Op, E, WARPS>(partials[u], warp, set[group * U + u]);
  __syncthreads(); // the partials of every warp are there
#pragma unroll
  for (int u = 0; u < U; ++u) {
    RowPartial<Op, E> &partial = partials[u];
    partial.reference = {};
    partial.acc = {};
    partial.count = 0;
    if (const u32 other = lane % LANES; other < WARPS)
      takePartial<Op, E, WARPS>(partial, other, set[group * U + u]);
    partial.own = rows[u];
    if constexpr (Op::template Reference<E>::COUNT > 0)
      Op::template settle<E>(partial.reference, partial.count, uniform, partial.own);
    mergePartials<Op, E, LANES>(partial, rows[u], uniform, Op::COLUMNS);
  }
}

/// From what each thread has found to what its rows are, in every thread. All threads of the block
/// come here. `setOf` gives the memory of the exchange.
template <class Op, int E, int U, class SetOf>
FW_INLINE void exchange(RowPartial<Op, E> (&partials)[U], typename Op::Row (&rows)[U],
                        const RowWork<Op> (&work)[U], const typename Op::Uniform &uniform,
                        SetOf setOf) {
  using Shape = RowShape<Op>;
  typename Op::Row own[U]; // what the thread's own elements were mapped about
#pragma unroll
  for (int u = 0; u < U; ++u) {
    own[u] = partials[u].own;
    mergePartials<Op, E, Shape::LANES>(partials[u], rows[u], uniform, Op::COLUMNS / Shape::WARPS);
  }
  if constexpr (Shape::WARPS > 1)
    mergeWarps<Op, E, U>(partials, rows, uniform, setOf());
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if constexpr (Op::template Reference<E>::COUNT > 0)
      rows[u] = partials[u].own;
    Op::template finish<E>(partials[u].acc, own[u], work[u].place, uniform, work[u].span.columns,
                           rows[u]);
  }
}

} // namespace fw
