// What the host and the kernel `fw_scalars` agree on. Valid for host, NVRTC and emulator.
//
//   extern "C" __global__ void fw_scalars(const __grid_constant__ fw::ScalarsLaunch launch)
//
// One block of ScalarsLaunch::THREADS threads counts the numbers of `counters` and then computes
// every row of the scalar table from the row's inputs. All tables lie in device memory.
#pragma once

#include "templates/vocab/prelude.h"
#include "templates/vocab/scalar_operations.h"

namespace fw {

/// Types of numbers in device memory.
enum class ScalarType : u32 { F32, F64, I32, I64 };

/// An input of one row.
struct ScalarSource {
  u64 address; // of the number; 0: `value` itself
  ScalarType type;
  u32 reserved;
  double value;
};
static_assert(sizeof(ScalarSource) == 24, "the device reads tables of sources");

/// A number that is counted, before any row is computed.
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

  const ScalarOperation *operations; // [operationCount]
  const double *constants;           // [constantCount]
  const u32 *slots;                  // [slotCount]: value number of each column
  const ScalarSource *sources;       // [rows][inputCount]
  const ScalarCounter *counters;     // [counterCount], each address once
  void *table;                       // [rows][slotCount] of f32, or of f64; rounded once
  u32 operationCount, constantCount, slotCount, inputCount, counterCount;
  u32 rows;
  u32 doubles; // 1: the table is of f64
  int countBy; // what counters are given: 1, or -1 where a count is taken back

  /// Rows that the block computes at a time. 0: a program of so many inputs and operations is too
  /// long for the kernel.
  static FW_INLINE constexpr u32 lanes(u32 inputs, u32 operations) {
    const u32 values = inputs + operations, most = values ? VALUES / values : THREADS;
    return most < THREADS ? most : THREADS;
  }
};
static_assert(sizeof(ScalarsLaunch) == 80, "the host fills what the kernel reads");

} // namespace fw
