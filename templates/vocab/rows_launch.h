// What the host and a kernel of pattern `rows` agree on. Valid for host, NVRTC and emulator.
//
//   extern "C" __global__ void
//   SYMBOL(const __grid_constant__ fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real> launch)
//
// A launch works on the rows of a few tensors, all of the same width. There are no tables: what a
// block needs stands in the kernel's parameters, so pointers may change with every launch, and a
// longer list takes several launches.
#pragma once

#include "templates/vocab/launch.h"

namespace fw {

/// A tensor of the list. Its rows stand on AXES axes, in the order in which the last axis is
/// fastest. The row at place p[a] on axis a starts in operand k at addresses[k] plus the sum of
/// p[a]
/// * strides[k][a]; a stride is a number of bytes, of any sign, and 0 for what is the same at all
/// places.
template <int OPERANDS, int AXES> struct RowsRecord {
  u64 addresses[OPERANDS];
  u64 strides[OPERANDS][AXES];
  u64 rows; // product of the sizes, at least 1
  u32 sizes[AXES];
  u32 firstBlock; // number of the block that takes its first rows
  u32 row;        // of the scalars
};

FW_INLINE constexpr u32 rowsRecordBytes(u32 operands, u32 axes) {
  return (8 * operands * (1 + axes) + 16 + 4 * axes + 7) / 8 * 8;
}

/// Tensors that one launch can have. Programs of many operands and scalars have less room.
FW_INLINE constexpr u32 rowsRecordRoom(u32 operands, u32 axes) {
  const u32 fit = (PARAMETER_BYTES - 32) / rowsRecordBytes(operands, axes);
  return fit == 0 ? 1 : fit < INLINE_SEGMENTS ? fit : INLINE_SEGMENTS;
}

/// Rows of so many scalars that stand in the parameters; 0: they need a table.
FW_INLINE constexpr u32 rowsScalarRoom(u32 operands, u32 axes, u32 slots, u32 realBytes) {
  const u32 at = 32 + rowsRecordRoom(operands, axes) * rowsRecordBytes(operands, axes);
  const u32 rest = at < PARAMETER_BYTES ? PARAMETER_BYTES - at : 0;
  const u32 fit = slots == 0 ? INLINE_ROWS : rest / (slots * realBytes);
  return fit < INLINE_ROWS ? fit : INLINE_ROWS;
}

/// The parameter of a kernel.
template <int OPERANDS, int AXES, int SLOTS, class Real> struct RowsLaunch {
  static constexpr u32 NUMBERS = rowsScalarRoom(OPERANDS, AXES, SLOTS, sizeof(Real)) * SLOTS;

  const Real *scalars; // [row][SLOTS]; null: `numbers`
  u64 policy;          // one of L2
  u32 columns;         // of every row; known beforehand where the kernel has a width of its own
  u32 recordCount;     // at least 1
  u32 zero;            // 0, which a compiler does not know
  u32 reserved;
  RowsRecord<OPERANDS, AXES> records[rowsRecordRoom(OPERANDS, AXES)]; // in order of firstBlock
  Real numbers[NUMBERS == 0 ? 1 : NUMBERS];
};

#if !defined(__CUDACC__)
/// Where the members of RowsLaunch stand, for a host that has no instance of it.
struct RowsLayout {
  // Of RowsLaunch.
  static constexpr u32 scalars = 0, policy = 8, columns = 16, recordCount = 20, zero = 24,
                       records = 32;
  u32 numbers, bytes;
  // Of a record; operand k's stride on axis a is number k * axes + a.
  static constexpr u32 addresses = 0;
  u32 strides, rows, sizes, firstBlock, row, recordBytes;

  constexpr RowsLayout(u32 operands, u32 axes, u32 slots, u32 realBytes)
      : numbers(records + rowsRecordRoom(operands, axes) * rowsRecordBytes(operands, axes)),
        bytes(behind(numbers, rowsScalarRoom(operands, axes, slots, realBytes) * slots, realBytes)),
        strides(8 * operands), rows(strides + 8 * operands * axes), sizes(rows + 8),
        firstBlock(sizes + 4 * axes), row(firstBlock + 4),
        recordBytes(rowsRecordBytes(operands, axes)) {}

private:
  static constexpr u32 behind(u32 at, u32 count, u32 realBytes) {
    return (at + (count == 0 ? 1 : count) * realBytes + 7) / 8 * 8;
  }
};
#endif

} // namespace fw
