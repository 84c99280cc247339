// Skeleton `row` of pattern `rows`: THREADS_PER_ROW threads take a row, from a lane to a block of
// them, and several such groups stand side by side in a block.
//
// The printer writes an Op:
//
//   struct Op {
//     static constexpr int V, VECTORS, STEPS, THREADS, THREADS_PER_ROW, ROWS_PER_THREAD;
//     // The width; 0: any, and STEPS is 0 too.
//     static constexpr int COLUMNS;
//     // Every row starts on a boundary of its vectors. Else rows of stream LEAD, whose elements
//     // have LEAD_BYTES, say where vectors start, and the others have them at the same columns.
//     static constexpr bool ALIGNED;
//     static constexpr int LEAD, LEAD_BYTES;
//     // With !ALIGNED: warps' accesses start with a line of memory.
//     static constexpr bool LINED;
//     // A row stays in registers; else every phase reads it again.
//     static constexpr bool HOLDS;
//     // What all rows share is asked for with the row.
//     static constexpr bool EARLY;
//     // Words are decoded again behind a reference or an exchange, and numbers not kept.
//     static constexpr bool FRESH;
//     // Columns outside [first, last) are neutral and not read.
//     static constexpr bool BOUNDED;
//     // A reference needs to know how many elements it stands for.
//     static constexpr bool COUNTED;
//     static constexpr int OPERANDS, AXES, SLOTS, EXCHANGES;  // EXCHANGES: 0 or more
//     // Bit k: operand k is the same for all rows. Bit E: phase E needs Column; EXCHANGES is emit.
//     static constexpr u32 SHARED_OPERANDS, COLUMN_PHASES;
//     using Real = float or double;  using Index = u32 or u64;
//     using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
//     using Place = fw::RowPlace<Op>;  // u is Uniform; i the column of element 0 of what is W wide
//     template <int W> struct In;  template <int W> struct Column;  template <int W> struct Out;
//     struct Uniform;
//     struct Row;  // what is known of a row, of any trivial type
//     // fw::Accumulators, or fw::Nothing<Real> as Reference.
//     template <int E> using Reference, Acc;
//     static Uniform uniform(const Real *scalars);
//     // Inputs of one value per row, and outputs.
//     static void begin(Place, Uniform u, u32 columns, Row &);
//     static void end(Place, Uniform u, Row);
//     // Policy is u64, Again or Last.
//     template <int E, int W, class Policy> static void load(In<W> &, Place, u32 i, Policy);
//     template <int W> static void loadColumn(Column<W> &, Place, u32 i);
//     template <int E, int W>
//     static void refer(In<W> &, Column<W>, Place, u32 i, Row, Uniform u, Reference<E> &);
//     template <int E> static void settle(Reference<E>, Real count, Uniform u, Row &);
//     template <int E, int W>
//     static void map(In<W> &, Column<W>, Place, u32 i, Row, Uniform u, Acc<E> &);
//     template <int E> static void rebase(Acc<E> &, Row from, Row to, Real count);
//     template <int E>
//     static void finish(Acc<E>, Row own, Place, Uniform u, u32 columns, Row &);
//     template <int W>
//     static void emit(In<W> &, Column<W>, Place, u32 i, Row, Uniform u, Out<W> &);
//     template <int W> static void store(Out<W>, Place, u32 i);
//     // Of the Row that `begin` left.
//     static u32 first(Place, Row, Uniform u, u32 columns), last(Place, Row, Uniform u, u32
//     columns);
//     // Element k does not matter.
//     template <int W> static void neutral(In<W> &, int k);
//   };
//
// The phases of a row. Exchange E: `map` merges the thread's elements into Acc<E>, the monoids are
// merged over the threads of the row, and `finish` makes of the result what Row holds from then on.
// A reduction may be made about a Reference<E>, itself a reduction of the same elements (a sum of
// exponentials about a maximum, of squares about a mean): a thread refers its own elements, maps
// them about that, and `rebase` moves a partial result from the reference of `count` elements to
// the one of more. So both take one exchange. `finish` also gets the Row that the thread's own
// elements were mapped about; `refer` and `map` may leave in In what `emit` reads where rows are
// held.
//
// Order of the merges: a thread takes the vectors of a step in order, then the single elements,
// then the next step; lanes of a warp merge as vocab/lanes.h says, and so do the warps of a row.
#pragma once

#include "templates/rows/row_exchange.cuh"

namespace fw {

template <class Op> struct RowThread {
  using Shape = RowShape<Op>;
  static constexpr int U = Shape::ROWS_EACH, C = Shape::VECTORS,
                       S = Shape::SINGLES ? Shape::SINGLES : 1;
  using Vector = typename Op::template In<Op::V>;
  using Single = typename Op::template In<1>;
  using VectorColumn = typename Op::template Column<Op::V>;
  using SingleColumn = typename Op::template Column<1>;

  const typename Op::Launch &launch;
  typename Op::Uniform uniform;
  const u32 thread = threadIdx.x % Shape::THREADS; // of its row
  RowWork<Op> work[U];
  typename Op::Row rows[U];
  Vector vectors[U][C];
  Single singles[U][S];
  VectorColumn columns[C]; // with EARLY

  FW_INLINE explicit RowThread(const typename Op::Launch &launch) : launch(launch) {}

  /// Row u of block `block`, up to its span.
  FW_INLINE RowWork<Op> workOf(const RowsRecord<Op::OPERANDS, Op::AXES> &record, u32 block,
                               int u) const {
    using Index = typename Op::Index;
    const Index last = static_cast<Index>(record.rows) - 1,
                row = static_cast<Index>(block - record.firstBlock) * Shape::ROWS +
                      threadIdx.x / Shape::THREADS * U + static_cast<Index>(u);
    RowWork<Op> work;
    work.exists = row <= last;
    work.place = placeOf<Op>(record, row <= last ? row : last);
    work.place.columns = width();
    return work;
  }
  FW_INLINE u32 width() const { return Op::COLUMNS ? Op::COLUMNS : launch.columns; }

  /// Begins with the rows of block `block`.
  FW_INLINE void begin(u32 block) {
    const RowsRecord<Op::OPERANDS, Op::AXES> &record = recordOf<Op>(launch, block);
    uniform = uniformOf<Op>(launch, record.row);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      work[u] = workOf(record, block, u);
      Op::begin(work[u].place, uniform, width(), rows[u]);
      work[u].span = spanOf<Op>(work[u].place, width(), rows[u], uniform);
    }
  }

  FW_INLINE u32 steps() const {
    if constexpr (Op::STEPS > 0)
      return Op::STEPS;
    constexpr u32 TILE = Shape::THREADS * C;
    const RowSpan<Op> &span = work[0].span;
    const u32 some = (span.lead + span.whole + TILE - 1) / TILE;
    return some ? some : 1; // the elements that go one by one belong to the first
  }

  /// visit(u, c, column): vector c of each row in a step, and the column where it begins.
  template <class Visit> FW_INLINE void eachVector(u32 step, Visit visit) const {
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const RowSpan<Op> &span = work[u].span;
        const u32 index = span.index(thread, step, c);
        if (span.has(index, step, c))
          visit(u, c, span.column(index));
      }
  }
  /// The same of the elements that go one by one.
  template <class Visit> FW_INLINE void eachSingle(Visit visit) const {
    if constexpr (Shape::MOST_SINGLES > 0)
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int s = 0; s < S; ++s) {
          const RowSpan<Op> &span = work[u].span;
          if (const u32 k = s * Shape::THREADS + thread; k < span.singles())
            visit(u, s, span.singleColumn(k));
        }
  }

  /// Elements outside the row's bounds become neutral.
  template <int W>
  FW_INLINE void trim(typename Op::template In<W> &in, const RowSpan<Op> &span, u32 i) const {
    if constexpr (Op::BOUNDED)
      if (span.matter(i, W) < W)
#pragma unroll
        for (int k = 0; k < W; ++k)
          if (span.matter(i + k, 1) == 0)
            Op::template neutral<W>(in, k);
  }

  /// How phase E reads: a row that is read again stays near until the last time.
  template <int E> FW_INLINE auto policyOf() const {
    if constexpr (Op::HOLDS || Op::EXCHANGES == 0)
      return launch.policy;
    else if constexpr (E < Op::EXCHANGES)
      return Again{launch.policy};
    else
      return Last{};
  }

  /// Asks for the elements of a step, all of them before one is used.
  template <int E> FW_INLINE void load(u32 step) {
    eachVector(step, [&](int u, int c, u32 i) {
      if (work[u].span.matter(i, Op::V) > 0)
        Op::template load<E, Op::V>(vectors[u][c], work[u].place, i, policyOf<E>());
    });
    if (step == 0)
      eachSingle([&](int u, int s, u32 i) {
        if (work[u].span.matter(i, 1) > 0)
          Op::template load<E, 1>(singles[u][s], work[u].place, i, policyOf<E>());
      });
    if constexpr (Op::BOUNDED) {
      eachVector(step, [&](int u, int c, u32 i) {
        trim<static_cast<int>(Op::V)>(vectors[u][c], work[u].span, i);
      });
      if (step == 0)
        eachSingle([&](int u, int s, u32 i) { trim<1>(singles[u][s], work[u].span, i); });
    }
  }

  /// Column `i` for a pass. What follows from places alone, and operands of columns, would be kept
  /// like decoded words (see refresh).
  FW_INLINE u32 named(u32 i, u32 pass) const { return Op::FRESH ? i + pass * launch.zero : i; }

  FW_INLINE void loadColumns() {
    if constexpr (Op::EARLY)
      eachVector(0, [&](int u, int c, u32 i) {
        if (u == 0)
          Op::template loadColumn<Op::V>(columns[c], work[0].place, i);
      });
  }
  template <int E>
  FW_INLINE void columnOf(VectorColumn &column, int u, int c, u32 i, u32 pass) const {
    constexpr bool IS_ONCE = (Op::COLUMN_PHASES & (Op::COLUMN_PHASES - 1)) == 0;
    if constexpr (Op::EARLY)
      column = columns[c];
    else if constexpr (Op::COLUMN_PHASES >> E & 1)
      Op::template loadColumn<Op::V>(column, work[u].place, IS_ONCE ? i : named(i, pass));
  }
  template <int E> FW_INLINE void columnOf(SingleColumn &column, int u, u32 i) const {
    if constexpr (Op::COLUMN_PHASES >> E & 1)
      Op::template loadColumn<1>(column, work[u].place, i);
  }

  /// The elements of a step, into their rows' references; those that go one by one too, or not.
  template <int E>
  FW_INLINE void refer(u32 step, bool hasSingles, RowPartial<Op, E> (&partials)[U]) {
    typename Op::Real before[U];
    typename Op::Row from[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      before[u] = partials[u].count, from[u] = partials[u].own;
    const auto count = [&](int u, u32 i, u32 elements) {
      if constexpr (Op::COUNTED)
        partials[u].count += static_cast<typename Op::Real>(work[u].span.matter(i, elements));
    };
    eachVector(step, [&](int u, int c, u32 i) {
      if (work[u].span.matter(i, Op::V) == 0)
        return;
      VectorColumn column;
      columnOf<E>(column, u, c, i, 2 * E);
      Op::template refer<E, Op::V>(vectors[u][c], column, work[u].place, named(i, 2 * E), rows[u],
                                   uniform, partials[u].reference);
      count(u, i, Op::V);
    });
    if (hasSingles)
      eachSingle([&](int u, int s, u32 i) {
        SingleColumn column;
        columnOf<E>(column, u, i);
        Op::template refer<E, 1>(singles[u][s], column, work[u].place, i, rows[u], uniform,
                                 partials[u].reference);
        count(u, i, 1);
      });
#pragma unroll
    for (int u = 0; u < U; ++u) {
      RowPartial<Op, E> &partial = partials[u];
      partial.own = rows[u];
      Op::template settle<E>(partial.reference, partial.count, uniform, partial.own);
      if (step > 0)
        Op::template rebase<E>(partial.acc, from[u], partial.own, before[u]);
    }
  }

  /// The elements of a step, into their rows' partials.
  template <int E> FW_INLINE void map(u32 step, bool hasSingles, RowPartial<Op, E> (&partials)[U]) {
    if constexpr (Op::template Reference<E>::COUNT > 0) {
      refer<E>(step, hasSingles, partials);
      refresh();
    } else
#pragma unroll
      for (int u = 0; u < U; ++u)
        partials[u].own = rows[u];
    eachVector(step, [&](int u, int c, u32 i) {
      if (work[u].span.matter(i, Op::V) == 0)
        return;
      VectorColumn column;
      columnOf<E>(column, u, c, i, 2 * E + 1);
      Op::template map<E, Op::V>(vectors[u][c], column, work[u].place, named(i, 2 * E + 1),
                                 partials[u].own, uniform, partials[u].acc);
    });
    if (hasSingles)
      eachSingle([&](int u, int s, u32 i) {
        SingleColumn column;
        columnOf<E>(column, u, i);
        Op::template map<E, 1>(singles[u][s], column, work[u].place, i, partials[u].own, uniform,
                               partials[u].acc);
      });
  }

  /// Exchanges E and behind.
  template <int E = 0> FW_INLINE void reduce() {
    if constexpr (E < Op::EXCHANGES) {
      RowPartial<Op, E> partials[U];
      if constexpr (Op::HOLDS) {
        if constexpr (E == 0) {
          load<0>(0);
          loadColumns();
        }
        map<E>(0, true, partials);
      } else {
        const u32 count = steps();
#pragma unroll(Shape::UNROLL)
        for (u32 step = 0; step < count; ++step) {
          load<E>(step);
          if (step == 0 && E == 0)
            loadColumns();
          map<E>(step, step == 0, partials);
        }
      }
      exchange<Op, E, U>(partials, rows, work, uniform, []() -> RowValues<Op> & {
        return shared<RowShared<Op>>().values[E % RowShared<Op>::SETS];
      });
      if constexpr (Op::HOLDS)
        refresh();
      reduce<E + 1>();
    }
  }

  /// A compiler that sees the same words decoded twice, about a reference or on both sides of an
  /// exchange, keeps the numbers, in twice the registers. Behind this they are other words to it.
  FW_INLINE void refresh() {
    if constexpr (Op::FRESH && sizeof(Vector) % 4 == 0) {
      struct Words {
        u32 words[sizeof(Vector) / 4];
      };
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int c = 0; c < C; ++c) {
          Words words = bitCast<Words>(vectors[u][c]);
#pragma unroll
          for (u32 k = 0; k < sizeof(Vector) / 4; ++k)
            words.words[k] ^= launch.zero;
          vectors[u][c] = bitCast<Vector>(words);
        }
    }
  }

  template <int W>
  FW_INLINE void store(const typename Op::template In<W> &held,
                       const typename Op::template Column<W> &column, int u, u32 i) const {
    typename Op::template Out<W> out;
    typename Op::template In<W> in = held;
    Op::template emit<W>(in, column, work[u].place, named(i, 2 * Op::EXCHANGES), rows[u], uniform,
                         out);
    if (work[u].exists)
      Op::template store<W>(out, work[u].place, i);
  }

  /// Stores the elements of a step.
  FW_INLINE void emit(u32 step, bool hasSingles) const {
    constexpr int E = Op::EXCHANGES;
    VectorColumn column;
    eachVector(step, [&](int u, int c, u32 i) {
      if (u == 0)
        columnOf<E>(column, u, c, i, 2 * E);
      store<static_cast<int>(Op::V)>(vectors[u][c], column, u, i);
    });
    if (hasSingles)
      eachSingle([&](int u, int s, u32 i) {
        SingleColumn single;
        columnOf<E>(single, u, i);
        store<1>(singles[u][s], single, u, i);
      });
  }
  /// Stores what rows have one of.
  FW_INLINE void end() const {
    if (thread == 0)
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (work[u].exists)
          Op::end(work[u].place, uniform, rows[u]);
  }

  FW_INLINE void emit() {
    constexpr int E = Op::EXCHANGES;
    const u32 count = steps();
#pragma unroll(Shape::UNROLL)
    for (u32 step = 0; step < count; ++step) {
      if constexpr (!Op::HOLDS || E == 0)
        load<E>(step);
      if constexpr (E == 0)
        loadColumns();
      emit(step, step == 0);
    }
    end();
  }
};

/// Body of the kernel.
template <class Op> FW_INLINE void row(const typename Op::Launch &launch) {
  static_assert(!Op::HOLDS || Op::STEPS == 1, "a row that is held is read in one step");
  RowThread<Op> thread(launch);
  thread.begin(blockIdx.x);
  thread.template reduce<0>();
  thread.emit();
}

} // namespace fw
