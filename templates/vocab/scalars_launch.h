// What the host and the kernel `fw_scalars` agree on. Valid for host, NVRTC and emulator.
//
//   extern "C" __global__ void fw_scalars(const __grid_constant__ fw::ScalarsLaunch launch)
//
// One block of ScalarsLaunch::THREADS threads computes every row of the scalar table from the row's
// inputs. When all rows are computed, it stores their results; last it counts the numbers of
// `counters`. All tables lie in device memory. The last block of a reducing kernel does the same
// with its own threads (templates/vocab/reduce_launch.h).
#pragma once

#include "templates/vocab/prelude.h"
#include "templates/vocab/scalar_operations.h"

namespace fw {

/// Types of numbers in device memory.
enum class ScalarType : u32 { F32, F64, F16, BF16, I32, I64 };

/// An input of one row.
struct ScalarSource {
  u64 address; // of the number; 0: `value` itself
  ScalarType type;
  u32 advance; // 1: what is read is one more, in the number's own type
  double value;
};
static_assert(sizeof(ScalarSource) == 24, "the device reads tables of sources");

/// A result of one row, which the memory of an operand gets.
struct ScalarStore {
  u64 address; // of the number; 0: this row stores none
  ScalarType type;
  u32 value;  // its value number
  u32 always; // 1: stored by rows that skip, too
  // The kernel's own, from the computing of the row to the storing, which waits for other rows.
  u32 isDue = 0;
  double due = 0;
};
static_assert(sizeof(ScalarStore) == 32, "the device reads tables of stores");

/// A number that a run counts.
struct ScalarCounter {
  u64 address;
  ScalarType type;
  u32 reserved;
};
static_assert(sizeof(ScalarCounter) == 16, "the device reads lists of counters");

struct ScalarsLaunch {
  static constexpr u32 THREADS = 256;
  static constexpr u32 VALUES = 6144;
  // Of the launch: as much as every device gives a block without being asked.
  static constexpr u32 SHARED_BYTES = VALUES * sizeof(double);
  static constexpr u32 NEVER = 0xFFFFFFFF;

  const ScalarOperation *operations; // [operationCount]
  const double *constants;           // [constantCount]
  const u32 *slots;                  // [slotCount]: value number of each column
  const ScalarSource *sources;       // [rows][inputCount]
  ScalarStore *stores;               // [rows][storeCount]
  const ScalarCounter *counters;     // [counterCount], each address once
  void *table;                       // [rows][slotCount] of f32, or of f64; rounded once
  u32 operationCount, constantCount, slotCount, inputCount, storeCount, counterCount;
  u32 rows;
  u32 doubles;      // 1: the table is of f64
  int countBy;      // what counters are given: 1, or -1 where a count is taken back
  u32 skip = NEVER; // a value number: rows where it is not 0 store nothing but what is stored
                    // always, and where it is not 0 in row 0, nothing is counted

  // Operations that a block brings to shared memory at a time, and the numbers that they take
  // there: each two, and a constant for each of its operands.
  static constexpr u32 WINDOW = 32, STAGING = 5 * WINDOW;

  /// Rows that a block computes at a time in `room` numbers of shared memory. 0: a program of so
  /// many inputs and operations is too long for it.
  static FW_INLINE constexpr u32 lanes(u32 inputs, u32 operations, u32 room = VALUES) {
    const u32 values = inputs + operations, most = values ? (room - STAGING) / values : THREADS;
    return most < THREADS ? most : THREADS;
  }
};
static_assert(sizeof(ScalarsLaunch) == 96, "the host fills what the kernel reads");

} // namespace fw
