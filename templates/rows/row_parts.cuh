// What the skeletons of pattern `rows` share: where the parts of a row stand.
//
// A row is cut for vectors of V elements: `head` elements one by one, whole vectors, and what is
// left one by one. Vector `index` is taken by thread (index + lead) % THREADS_PER_ROW of the row:
// with LINED, `lead` places stay empty so that a warp's access starts with a line of memory.
#pragma once

#include "templates/vocab/columns.h"
#include "templates/vocab/reread.h"
#include "templates/vocab/rows_launch.h"
#include "templates/vocab/warp.h"

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
  static_assert(!Op::LINED || !Op::ALIGNED, "vectors of aligned rows stand where rows are cut");
  static_assert(!Op::EARLY || Op::STEPS == 1, "what is asked for with the row is asked for once");
  static_assert(Op::ALIGNED || ROWS_EACH == 1, "rows of a thread have their vectors in step");
};

/// A row: where it stands in every operand, its number, and its place on every axis of rows.
template <class Op> struct RowPlace {
  u64 pointers[Op::OPERANDS];
  typename Op::Index row, at[Op::AXES];
  u32 columns; // of every row
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

/// A row while a thread works on it.
template <class Op> struct RowWork {
  RowPlace<Op> place;
  RowSpan<Op> span;
  bool exists; // else it is the last one once more, and is not stored
};

/// `row` is what Op::begin has left.
template <class Op>
FW_INLINE RowSpan<Op> spanOf(const RowPlace<Op> &place, u32 columns, const typename Op::Row &row,
                             const typename Op::Uniform &uniform) {
  using Shape = RowShape<Op>;
  RowSpan<Op> span;
  span.columns = columns;
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
    span.first = Op::first(place, row, uniform, columns);
    span.last = Op::last(place, row, uniform, columns);
  }
  return span;
}

/// The tensor that block `block` belongs to.
template <class Op>
FW_INLINE const RowsRecord<Op::OPERANDS, Op::AXES> &recordOf(const typename Op::Launch &launch,
                                                             u32 block) {
  u32 r = launch.recordCount - 1;
#pragma unroll 1
  while (launch.records[r].firstBlock > block)
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
FW_INLINE RowPlace<Op> placeOf(const RowsRecord<Op::OPERANDS, Op::AXES> &record,
                               typename Op::Index row) {
  using Index = typename Op::Index;
  RowPlace<Op> place;
  place.row = row;
  Index slower = row; // number of the row on the axes up to the one in hand
#pragma unroll
  for (int a = Op::AXES - 1; a > 0; --a) {
    const Index size = record.sizes[a], next = slower / size;
    place.at[a] = slower - next * size;
    slower = next;
  }
  place.at[0] = slower;
#pragma unroll
  for (int k = 0; k < Op::OPERANDS; ++k) {
    u64 pointer = record.addresses[k];
    if (!(Op::SHARED_OPERANDS >> k & 1))
#pragma unroll
      for (int a = 0; a < Op::AXES; ++a)
        pointer += place.at[a] * record.strides[k][a];
    place.pointers[k] = pointer;
  }
  return place;
}

} // namespace fw
