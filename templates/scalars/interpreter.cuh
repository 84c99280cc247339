// Scalar programs run by a block: the operations that the host would have run, as a list.
//
// What a run does has an order, because rows read numbers that rows write: all rows of all programs
// are computed and their slots stand in the tables; then results are stored; then counters are
// counted. Numbers that are counted later are read as one more (ScalarSource::advance).
//
//   struct Evaluator {
//     static FW_INLINE double scalar(ScalarCode code, double a, double b, double c);
//   };
#pragma once

#include "templates/vocab/scalar_memory.h"
#include "templates/vocab/scalars_launch.h"

namespace fw {

/// Two lists that are brought from far memory in one step are begun at the two ends of the block,
/// so that no warp waits for the one before it asks for the other.
template <u32 THREADS> FW_INLINE u32 fromTheEnd() { return THREADS - 1 - threadIdx.x; }

/// Rows [first, first + count) of a program while a block computes them: row first + l by lane l.
/// Each step is for all threads of the block, and a barrier follows it.
template <class Evaluator, u32 THREADS> struct ScalarRows {
  const ScalarsLaunch &program;
  // In shared memory: operations, whose operands are places, and the constants among these.
  ScalarOperation *staged; // [WINDOW]
  double *constants;       // [WINDOW][3]
  double *values;          // [value][lane], constants left out: lanes meet different banks
  u32 lanes, first, count;

  static constexpr u32 IS_CONSTANT = 0x80000000;

  FW_INLINE double value(u32 number, u32 lane) const {
    const u32 inputs = program.inputCount, constants = program.constantCount;
    if (number - inputs < constants) // wraps for an input
      return program.constants[number - inputs];
    return values[(number < inputs ? number : number - constants) * lanes + lane];
  }
  FW_INLINE bool skips(u32 lane) const {
    return program.skip != ScalarsLaunch::NEVER && value(program.skip, lane) != 0;
  }

  /// All at once: each is two reads from far memory.
  FW_INLINE void read() const {
    const u32 inputs = program.inputCount;
    const ScalarSource *sources = program.sources + static_cast<u64>(first) * inputs;
#pragma unroll 1
    for (u32 k = threadIdx.x; k < count * inputs; k += THREADS)
      values[k % inputs * lanes + k / inputs] = readScalar(sources[k]);
  }

  /// Where an operand of operation `k` of the window stands.
  FW_INLINE u32 placeOf(u32 number, u32 spare) const {
    const u32 inputs = program.inputCount;
    if (number - inputs >= program.constantCount) // wraps for an input
      return (number < inputs ? number : number - program.constantCount) * lanes;
    constants[spare] = program.constants[number - inputs];
    return spare | IS_CONSTANT;
  }
  FW_INLINE double at(u32 place) const {
    return place & IS_CONSTANT ? constants[place - IS_CONSTANT] : values[place + threadIdx.x];
  }

  /// Brings operations [begin, begin + size) to shared memory, an operand a thread and so all at
  /// once: one by one, each would wait for far memory.
  FW_INLINE void stage(u32 begin, u32 size) const {
#pragma unroll 1
    for (u32 k = fromTheEnd<THREADS>(); k < 3 * size; k += THREADS) {
      const ScalarOperation &from = program.operations[begin + k / 3];
      ScalarOperation &to = staged[k / 3];
      (&to.a)[k % 3] = placeOf((&from.a)[k % 3], k);
      if (k % 3 == 0)
        to.code = from.code;
    }
  }

  FW_INLINE void evaluate(u32 begin, u32 size) const {
    if (threadIdx.x >= count)
      return;
    double *next = values + (program.inputCount + begin) * lanes + threadIdx.x;
#pragma unroll 1
    for (u32 k = 0; k < size; ++k, next += lanes) {
      const ScalarOperation op = staged[k];
      *next = Evaluator::scalar(op.code, at(op.a), at(op.b), at(op.c));
    }
  }

  FW_INLINE void fillTable() const {
    const u32 slots = program.slotCount;
    const u64 start = static_cast<u64>(first) * slots;
#pragma unroll 1
    for (u32 k = threadIdx.x; k < count * slots; k += THREADS) {
      const double number = value(program.slots[k % slots], k / slots);
      if (program.doubles)
        static_cast<double *>(program.table)[start + k] = number;
      else
        static_cast<float *>(program.table)[start + k] = static_cast<float>(number);
    }
  }

  FW_INLINE void noteStores() const {
    ScalarStore *stores = program.stores + static_cast<u64>(first) * program.storeCount;
#pragma unroll 1
    for (u32 k = fromTheEnd<THREADS>(); k < count * program.storeCount; k += THREADS) {
      const u32 lane = k / program.storeCount;
      stores[k].due = value(stores[k].value, lane);
      stores[k].isDue = stores[k].address != 0 && (stores[k].always || !skips(lane));
    }
  }
};

/// Computes all rows of a program; whether row 0 skips. The block passes a barrier at the end.
template <class Evaluator, u32 THREADS>
FW_INLINE bool computeScalars(const ScalarsLaunch &program, double *numbers, u32 room) {
  const u32 fit = ScalarsLaunch::lanes(program.inputCount, program.operationCount, room);
  const u32 lanes = fit < THREADS ? fit : THREADS;
  bool isSkipped = false;
#pragma unroll 1
  for (u32 first = 0; first < program.rows; first += lanes) {
    const u32 rest = program.rows - first;
    const ScalarRows<Evaluator, THREADS> rows{program,
                                              reinterpret_cast<ScalarOperation *>(numbers),
                                              numbers + 2 * ScalarsLaunch::WINDOW,
                                              numbers + ScalarsLaunch::STAGING,
                                              lanes,
                                              first,
                                              rest < lanes ? rest : lanes};
    rows.read();
    u32 begin = 0;
    do {
      const u32 left = program.operationCount - begin;
      const u32 size = left < ScalarsLaunch::WINDOW ? left : ScalarsLaunch::WINDOW;
      rows.stage(begin, size);
      __syncthreads(); // inputs and operations are there
      rows.evaluate(begin, size);
      __syncthreads(); // the values are there
      begin += size;
    } while (begin < program.operationCount);
    rows.fillTable();
    rows.noteStores();
    if (first == 0)
      isSkipped = rows.skips(0);
    __syncthreads(); // the values are read, and the stores noted
  }
  return isSkipped;
}

/// Writes what the rows have left due.
template <u32 THREADS> FW_INLINE void storeScalars(const ScalarsLaunch &program) {
  const u64 count = static_cast<u64>(program.rows) * program.storeCount;
#pragma unroll 1
  for (u64 k = threadIdx.x; k < count; k += THREADS) {
    const ScalarStore store = program.stores[k];
    if (store.isDue)
      writeScalar(store.type, store.address, store.due);
  }
}

template <u32 THREADS> FW_INLINE void countScalars(const ScalarsLaunch &program) {
#pragma unroll 1
  for (u32 k = fromTheEnd<THREADS>(); k < program.counterCount; k += THREADS)
    countScalar(program.counters[k], program.countBy);
}

/// Runs `count` programs as one run. `numbers` are `room` numbers of shared memory, on a boundary
/// of 16 bytes and enough for a row of each program (ScalarsLaunch::lanes). One of the programs, if
/// any, has the run's counters.
template <class Evaluator, u32 THREADS>
FW_INLINE void runScalars(const ScalarsLaunch *programs, u32 count, double *numbers, u32 room) {
  bool counts = true;
#pragma unroll 1
  for (u32 p = 0; p < count; ++p) {
    const ScalarsLaunch &program = programs[p];
    const bool isSkipped = computeScalars<Evaluator, THREADS>(program, numbers, room);
    if (program.counterCount != 0)
      counts = !isSkipped;
  }
#pragma unroll 1
  for (u32 p = 0; p < count; ++p) {
    storeScalars<THREADS>(programs[p]);
    if (counts)
      countScalars<THREADS>(programs[p]);
  }
}

} // namespace fw
