// What the host and a kernel of pattern `elements` that reduces agree on. Valid for host, NVRTC and
// emulator.
//
//   extern "C" __global__ void
//   SYMBOL(const __grid_constant__ fw::ReduceLaunch<OPERANDS, SLOTS, Real> launch)
//
// Every block leaves one f64 partial per reduction. Kernels of one plan, one per set of dtypes,
// leave theirs in one array; of the last of these launches, the block that comes last merges them
// all and runs the scalar programs that need the results.
#pragma once

#include "templates/vocab/launch.h"
#include "templates/vocab/scalars_launch.h"

namespace fw {

struct ReduceTail {
  // Shared memory that a launch asks for, and the numbers that it holds.
  static constexpr u32 SHARED_BYTES = 8192, VALUES = SHARED_BYTES / sizeof(double) - 1;

  double *partials;        // [reduction][partialCount]
  double *results;         // [reduction][entries, or 1]; what keeps all stands in column 0
  const u32 *firstPartial; // [entries + 1]: where the partials of each entry begin, for reductions
                           // that keep a tensor
  u32 *ticket;             // 0 before the launch and behind it
  const ScalarsLaunch *programs; // [programCount], run by the last block
  u32 partialCount;              // of all launches
  u32 partialOffset;             // the partial of this launch's block 0
  u32 entries, programCount;
  u32 isLast; // 1: the last block of this launch finishes; 0: a later launch on the stream does
  u32 reserved;
};
static_assert(sizeof(ReduceTail) == 64, "the host fills what the kernel reads");

/// As rowRoom of ElementsLaunch.
FW_INLINE constexpr u32 reduceRowRoom(u32 operands, u32 slots, u32 realBytes) {
  const u32 at = 32 + 8 * operands + sizeof(ReduceTail);
  const u32 rest = at < PARAMETER_BYTES ? PARAMETER_BYTES - at : 0;
  const u32 fit = slots == 0 ? INLINE_ROWS : rest / (slots * realBytes);
  return fit < INLINE_ROWS ? fit : INLINE_ROWS;
}

/// The parameter of a kernel. Names that ElementsLaunch has too mean the same.
template <int OPERANDS, int SLOTS, class Real> struct ReduceLaunch {
  static constexpr u32 NUMBERS = reduceRowRoom(OPERANDS, SLOTS, sizeof(Real)) * SLOTS;

  const Chunk *chunks; // one per block
  const u64 *pointers[OPERANDS];
  const Real *scalars; // null: `rows`
  u64 policy;
  u32 perEntry;
  u32 reserved;
  ReduceTail tail;
  Real rows[NUMBERS == 0 ? 1 : NUMBERS];
};

#if !defined(__CUDACC__)
/// Where the members of ReduceLaunch stand, for a host that has no instance of it.
struct ReduceLayout {
  u32 pointers, scalars, policy, perEntry, tail, rows, bytes;

  constexpr ReduceLayout(u32 operands, u32 slots, u32 realBytes)
      : pointers(sizeof(u64)), scalars(pointers + 8 * operands), policy(scalars + 8),
        perEntry(policy + 8), tail(perEntry + 8), rows(tail + static_cast<u32>(sizeof(ReduceTail))),
        bytes(behind(rows, reduceRowRoom(operands, slots, realBytes) * slots, realBytes)) {}

private:
  static constexpr u32 behind(u32 at, u32 numbers, u32 realBytes) {
    return (at + (numbers == 0 ? 1 : numbers) * realBytes + 7) / 8 * 8;
  }
};
#endif

} // namespace fw
