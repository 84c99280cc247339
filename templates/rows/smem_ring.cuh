// Skeleton `smem_ring` of pattern `rows`, for rows that fill an SM: a row comes to shared memory in
// STEPS stages, all its phases read it there, and a stage that has been stored is filled with what
// comes next. So the next rows are on their way while one is exchanged and stored.
//
// The Op is that of row.cuh, with HOLDS, without BOUNDED and EARLY, and
//
//   static constexpr int STAGES;  // of the ring, at least STEPS
//
// A block takes every gridDim.x-th number of those that a launch has blocks for in row.cuh, so any
// grid up to that many will do: as many blocks as are resident read ahead most. `refer` and `map`
// leave nothing in In. Each thread copies what it reads itself (vocab/staging.h): the ring needs no
// barrier.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/vocab/staging.h"

namespace fw {

/// All shared memory of a block. Two sets of values whatever the number of exchanges: the next
/// row's first exchange follows the last one of this.
template <class Op> struct RingShared {
  static constexpr u32 STAGE_BYTES =
      Op::THREADS * Op::VECTORS * sizeof(typename Op::template In<Op::V>);
  alignas(16) unsigned char stages[Op::STAGES][STAGE_BYTES];
  RowValues<Op> values[2];
};

template <class Op> struct RingThread : RowThread<Op> {
  using Base = RowThread<Op>;
  using Base::launch, Base::work, Base::rows, Base::singles, Base::vectors, Base::thread,
      Base::uniform;
  static constexpr int STAGES = Op::STAGES, STEPS = Op::STEPS;
  static_assert(STEPS > 0 && STAGES >= STEPS, "room for a row");
  static_assert(Op::HOLDS && !Op::BOUNDED && !Op::EARLY, "rows are in the ring, all of each");
  static_assert(Base::U == 1 && Op::EXCHANGES > 0, "a row at a time, which is read twice");

  const u32 count; // of numbers
  u32 first = 0;   // stage of the row in hand
  u32 turn = 0;    // of the sets of values
  // What is asked for next: its row, step, number and stage.
  RowWork<Op> asked;
  u32 askedStep = 0, askedNumber = blockIdx.x, askedStage = 0;

  FW_INLINE explicit RingThread(const typename Op::Launch &launch)
      : Base(launch), count(countOf(launch)) {
    asked = rowOf(askedNumber);
  }

  static FW_INLINE u32 countOf(const typename Op::Launch &launch) {
    const auto &last = launch.records[launch.recordCount - 1];
    constexpr u32 ROWS = RowShape<Op>::ROWS;
    return last.firstBlock + static_cast<u32>((last.rows + ROWS - 1) / ROWS);
  }
  FW_INLINE RowWork<Op> rowOf(u32 number) const {
    RowWork<Op> work = Base::workOf(recordOf<Op>(launch, number), number, 0);
    work.span = spanOf<Op>(work.place, Base::width(), rows[0], uniform); // of nothing but the place
    return work;
  }

  FW_INLINE StageCursor cursorOf(u32 stage) const {
    return {sharedAddress(&shared<RingShared<Op>>().stages[stage][0])};
  }
  /// visit(c, column, cursor): the vectors of a step of a row, and their places in a stage. Each
  /// takes `access` bytes of a thread there.
  template <class Visit>
  FW_INLINE void eachPlace(const RowSpan<Op> &span, u32 step, u32 stage, Visit visit) const {
    constexpr u32 BYTES = Op::THREADS * sizeof(typename Base::Vector);
    const StageCursor start = cursorOf(stage);
#pragma unroll
    for (int c = 0; c < Base::C; ++c) {
      const u32 index = span.index(thread, step, c);
      StageCursor cursor{start.at + c * BYTES};
      if (span.has(index, step, c))
        visit(c, span.column(index), cursor);
    }
  }

  /// Asks for one stage more, if there is anything to come. A group of copies in any case: waits
  /// count them.
  FW_INLINE void ask() {
    if (askedNumber < count) {
      eachPlace(asked.span, askedStep, askedStage, [&](int c, u32 i, StageCursor &cursor) {
        Op::template load<0, Op::V>(vectors[0][c], asked.place, i,
                                    Fill<Op::THREADS>{&cursor, launch.policy});
      });
      askedStage = askedStage + 1 == STAGES ? 0 : askedStage + 1;
      if (++askedStep == STEPS) {
        askedStep = 0;
        askedNumber += gridDim.x;
        if (askedNumber < count)
          asked = rowOf(askedNumber);
      }
    }
    commitStage();
  }

  /// Reads a step of the row in hand.
  FW_INLINE void take(u32 step) {
    const u32 stage = first + step;
    eachPlace(work[0].span, step, stage >= STAGES ? stage - STAGES : stage,
              [&](int c, u32 i, StageCursor &cursor) {
                Op::template load<0, Op::V>(vectors[0][c], work[0].place, i,
                                            Take<Op::THREADS>{&cursor});
              });
  }

  template <int E, int STEP = 0> FW_INLINE void mapFrom(RowPartial<Op, E> (&partials)[1]) {
    if constexpr (STEP < STEPS) {
      if constexpr (E == 0)
        waitStage<STAGES - 1 - STEP>(); // stages that were asked for behind this one
      take(STEP);
      Base::template map<E>(STEP, STEP == STEPS - 1, partials);
      mapFrom<E, STEP + 1>(partials);
    }
  }
  template <int E = 0> FW_INLINE void reduce() {
    if constexpr (E < Op::EXCHANGES) {
      RowPartial<Op, E> partials[1];
      mapFrom<E>(partials);
      exchange<Op, E, 1>(partials, rows, work, uniform, [&]() -> RowValues<Op> & {
        return shared<RingShared<Op>>().values[turn % 2];
      });
      ++turn;
      reduce<E + 1>();
    }
  }
  /// Stores the row in hand, stage by stage, and asks for others in their places.
  FW_INLINE void emit() {
#pragma unroll(2)
    for (u32 step = 0; step < STEPS; ++step) {
      take(step);
      Base::emit(step, step == STEPS - 1);
      ask();
    }
    Base::end();
  }

  FW_INLINE void run() {
#pragma unroll 1
    for (int stage = 0; stage < STAGES; ++stage)
      ask();
#pragma unroll 1
    for (u32 number = blockIdx.x; number < count; number += gridDim.x) {
      Base::begin(number);
      // The last step needs them, so they are there by then.
      Base::eachSingle([&](int, int s, u32 i) {
        Op::template load<0, 1>(singles[0][s], work[0].place, i, launch.policy);
      });
      reduce();
      emit();
      first = first + STEPS >= STAGES ? first + STEPS - STAGES : first + STEPS;
    }
  }
};

/// Body of the kernel.
template <class Op> FW_INLINE void smemRing(const typename Op::Launch &launch) {
  RingThread<Op>(launch).run();
}

} // namespace fw
