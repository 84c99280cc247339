// What the skeletons of pattern `rows` share: where the parts of a row stand, and the exchange
// between the threads of a row.
//
// A row is cut for vectors of V elements: `head` elements one by one, whole vectors, and what is
// left one by one. Vector `index` is taken by thread (index + lead) % THREADS_PER_ROW of the row:
// with LINED, `lead` places stay empty so that a warp's access starts with a line of memory.
#pragma once

#include "templates/vocab/columns.h"
#include "templates/vocab/lanes.h"
#include "templates/vocab/reread.h"
#include "templates/vocab/rows_launch.h"
#include "templates/vocab/shared.h"

namespace fw {

/// Constants that follow from those of an Op.
template <class Op> struct RowShape {
  static constexpr u32 V = Op::V, THREADS = Op::THREADS_PER_ROW, VECTORS = Op::VECTORS,
                       ROWS_EACH = Op::ROWS_PER_THREAD;
  static constexpr u32 GROUPS = Op::THREADS / THREADS, ROWS = GROUPS * ROWS_EACH; // of a block
  static constexpr u32 LANES = THREADS < WARP ? THREADS : WARP, WARPS = THREADS / LANES; // of a row
  static constexpr u32 LINE_BYTES = 128;
  static constexpr u32 LINE = Op::LINED ? LINE_BYTES / (V * Op::LEAD_BYTES) : 1; // in vectors
  /// Operands of columns are read beyond a vector's end (loadColumnShifted): the last one of a row
  /// goes element by element.
  static constexpr bool SHIFTED = !Op::ALIGNED && Op::COLUMN_PHASES != 0;
  static constexpr u32 CUT = SHIFTED ? 1 : 0;
  static constexpr u32 mostWhole(u32 columns) { return columns < V ? 0 : columns / V - CUT; }
  /// Vectors of a row, at most with the places that stay empty before them, and at least.
  static constexpr u32 PLACES = mostWhole(Op::COLUMNS) + LINE - 1;
  static constexpr u32 LEAST =
      Op::ALIGNED ? Op::COLUMNS / V : mostWhole(Op::COLUMNS < V ? 0 : Op::COLUMNS - (V - 1));
  static constexpr u32 LOOSE = (2 + CUT) * V - 2;
  static constexpr u32 MOST_SINGLES =
      Op::ALIGNED ? (Op::COLUMNS ? Op::COLUMNS % V : V - 1)
                  : (Op::COLUMNS && Op::COLUMNS < LOOSE ? Op::COLUMNS : LOOSE);
  static constexpr u32 SINGLES = (MOST_SINGLES + THREADS - 1) / THREADS; // of a thread
  static constexpr bool EXACT = Op::ALIGNED && Op::COLUMNS > 0;
  /// Every thread has all its vectors, and nothing else.
  static constexpr bool FULL =
      EXACT && !Op::BOUNDED && Op::COLUMNS == V * THREADS * VECTORS * Op::STEPS;
  /// Steps that stand in the kernel one behind the other: rolled loops lose up to half of the
  /// speed. Vectors that may be missing in each step cost registers, so rows that start anywhere
  /// have two.
  static constexpr u32 MOST_UNROLLED = Op::ALIGNED ? 8 : 2;
  static constexpr u32 UNROLL = Op::STEPS == 0               ? 1
                                : Op::STEPS <= MOST_UNROLLED ? Op::STEPS
                                : Op::ALIGNED                ? 4
                                                             : MOST_UNROLLED;

  static_assert(Op::THREADS % WARP == 0 && Op::THREADS % THREADS == 0, "whole warps and groups");
  static_assert(THREADS % WARP == 0 || (THREADS < WARP && (THREADS & (THREADS - 1)) == 0),
                "a row has whole warps, or a power of two of lanes");
  static_assert(Op::STEPS == 0 || Op::STEPS * THREADS * VECTORS >= PLACES, "room for every vector");
  static_assert(Op::COLUMNS > 0 || Op::STEPS == 0, "rows of any width take any number of steps");
  static_assert(!Op::HOLDS || Op::STEPS == 1, "a row that is held is read in one step");
  static_assert(!Op::LINED || !Op::ALIGNED, "vectors of aligned rows stand where rows are cut");
  static_assert(!Op::EARLY || Op::STEPS == 1, "what is asked for with the row is asked for once");
  static_assert(Op::ALIGNED || ROWS_EACH == 1, "rows of a thread have their vectors in step");
};

/// A row: where it stands in every operand.
template <class Op> struct RowPlace {
  u64 pointers[Op::OPERANDS];
  typename Op::Index row;
};

/// How a row is cut.
template <class Op> struct RowSpan {
  u32 columns, head, lead, whole;
  u32 first, last; // columns that matter; the others are neutral

  /// The vector that this thread takes at place c of a step.
  FW_INLINE u32 index(u32 thread, u32 step, u32 c) const {
    using Shape = RowShape<Op>;
    return (step * Shape::VECTORS + c) * Shape::THREADS + thread - lead;
  }
  /// Whether there is such a vector. Most need no test, and their loads of operands of columns are
  /// gathered; but a block that has an SM to itself has nothing else to do until these are there,
  /// and tests keep them apart.
  FW_INLINE bool has(u32 index, u32 step, u32 c) const {
    using Shape = RowShape<Op>;
    const u32 turn = step * Shape::VECTORS + c;
    if ((Shape::EXACT || Shape::THREADS <= 512) && (turn > 0 || Shape::LINE == 1) &&
        Shape::LINE <= Shape::THREADS && (turn + 1) * Shape::THREADS <= Shape::LEAST)
      return true;
    return index < whole; // an empty place's index is beyond all others
  }
  FW_INLINE u32 column(u32 index) const { return head + index * Op::V; }

  /// Elements that go one by one: how many, and the column of number k.
  FW_INLINE u32 singles() const { return columns - whole * Op::V; }
  FW_INLINE u32 singleColumn(u32 k) const { return k < head ? k : k + whole * Op::V; }

  /// How many of the columns [from, from + count) matter.
  FW_INLINE u32 matter(u32 from, u32 count) const {
    if constexpr (!Op::BOUNDED)
      return count;
    const u32 low = from > first ? from : first;
    const u32 high = from + count < last ? from + count : last;
    return high > low ? high - low : 0;
  }
};

template <class Op>
FW_INLINE RowSpan<Op> spanOf(const RowPlace<Op> &place, const typename Op::Launch &launch) {
  using Shape = RowShape<Op>;
  RowSpan<Op> span;
  span.columns = Op::COLUMNS ? Op::COLUMNS : launch.columns;
  span.head = span.lead = 0;
  if constexpr (!Op::ALIGNED) {
    const u64 at = place.pointers[Op::LEAD] / Op::LEAD_BYTES;
    const u32 to = static_cast<u32>(u64{0} - at) % Op::V;
    span.head = to < span.columns ? to : span.columns;
    span.lead = static_cast<u32>((at + to) / Op::V) % Shape::LINE;
  }
  span.whole = (span.columns - span.head) / Op::V;
  if constexpr (Shape::SHIFTED)
    span.whole -= span.whole > 0 ? Shape::CUT : 0;
  span.first = 0, span.last = span.columns;
  if constexpr (Op::BOUNDED) {
    span.first = Op::first(place.row, span.columns);
    span.last = Op::last(place.row, span.columns);
  }
  return span;
}

/// The tensor that this block belongs to.
template <class Op>
FW_INLINE const RowsRecord<Op::OPERANDS> &recordOf(const typename Op::Launch &launch) {
  u32 r = launch.recordCount - 1;
#pragma unroll 1
  while (launch.records[r].firstBlock > blockIdx.x)
    --r;
  return launch.records[r];
}

template <class Op>
FW_INLINE typename Op::Uniform uniformOf(const typename Op::Launch &launch, u32 row) {
  // Two reads, each from memory of its own kind: one through a pointer to either would be generic.
  if (launch.scalars)
    return Op::uniform(launch.scalars + static_cast<u64>(row) * Op::SLOTS);
  return Op::uniform(launch.numbers + row * Op::SLOTS);
}

/// Row `row` of a tensor, in every operand.
template <class Op>
FW_INLINE RowPlace<Op> placeOf(const RowsRecord<Op::OPERANDS> &record, typename Op::Index row) {
  RowPlace<Op> place;
  place.row = row;
#pragma unroll
  for (int k = 0; k < Op::OPERANDS; ++k) {
    const bool isShared = Op::SHARED_OPERANDS >> k & 1;
    place.pointers[k] = record.addresses[k] + (isShared ? 0 : row * record.strides[k]);
  }
  return place;
}

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

/// What the warps of a row hand each other. Two sets, so that a warp may write the next exchange
/// while another still reads this one: one barrier lies between any two uses of a set.
template <class Op> struct RowShared {
  using Shape = RowShape<Op>;
  static constexpr u32 SETS = Op::EXCHANGES > 1 ? 2 : 1;
  typename Op::Real values[SETS][Shape::ROWS][rowValues<Op>()][Shape::WARPS];
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
                          const typename Op::Uniform &uniform) {
  using Shape = RowShape<Op>;
  constexpr u32 WARPS = Shape::WARPS, LANES = powerAtLeast(WARPS);
  static_assert(LANES <= WARP, "a lane for each warp");
  RowShared<Op> &memory = shared<RowShared<Op>>();
  const u32 group = threadIdx.x / Shape::THREADS, lane = threadIdx.x % WARP;
  const u32 warp = threadIdx.x % Shape::THREADS / WARP;
  auto &set = memory.values[E % RowShared<Op>::SETS];
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
/// come here.
template <class Op, int E, int U>
FW_INLINE void exchange(RowPartial<Op, E> (&partials)[U], typename Op::Row (&rows)[U], u32 columns,
                        const typename Op::Uniform &uniform) {
  using Shape = RowShape<Op>;
  typename Op::Row own[U]; // what the thread's own elements were mapped about
#pragma unroll
  for (int u = 0; u < U; ++u) {
    own[u] = partials[u].own;
    mergePartials<Op, E, Shape::LANES>(partials[u], rows[u], uniform, Op::COLUMNS / Shape::WARPS);
  }
  if constexpr (Shape::WARPS > 1)
    mergeWarps<Op, E, U>(partials, rows, uniform);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if constexpr (Op::template Reference<E>::COUNT > 0)
      rows[u] = partials[u].own;
    Op::template finish<E>(partials[u].acc, own[u], uniform, columns, rows[u]);
  }
}

} // namespace fw
