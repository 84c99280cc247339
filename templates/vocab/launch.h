// What the host and a kernel of pattern `elements` agree on. Valid for host, NVRTC and emulator.
//
//   extern "C" __global__ void
//   SYMBOL(const __grid_constant__ fw::ElementsLaunch<OPERANDS, SLOTS, Real> launch)
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

/// The work of one block: elements [first, first + count) of one segment. The first `head` of them
/// and what is left behind the last whole vector go one by one, the middle goes in vectors; so
/// element first + head of every operand stands on a boundary of its vectors unless head == count.
struct alignas(16) Chunk {
  u64 first;   // number of the first element inside the segment
  u32 count;   // elements of this chunk, below 2^31
  u32 head;    // <= count
  u32 segment; // row of the pointer columns
  u32 group;   // row of the scalars where each group of entries has one
  u32 entry;   // row of the scalars where each entry has its own
  u32 reserved;
};
static_assert(sizeof(Chunk) == 32, "the chunk table is read by the device");

/// A contiguous piece of an entry of a list, which a launch cuts into chunks.
struct Segment {
  static constexpr u32 NO_VECTORS = 0xFFFFFFFF;

  u64 count;      // elements, at least 1
  u32 head;       // elements before the first vector, or NO_VECTORS: all go one by one
  u32 firstBlock; // number of the block that takes its first chunk
  u32 row;        // of the scalars
  u32 reserved;
};
static_assert(sizeof(Segment) == 24 && alignof(Segment) == 8, "it stands in kernel parameters");

/// Chunk `number` of a segment, of `chunk` elements but for the first, which has the head too, and
/// the last. The kernel and the planner both cut by this.
FW_INLINE Chunk chunkOf(const Segment &segment, u32 number, u32 chunk) {
  const bool hasVectors = segment.head != Segment::NO_VECTORS;
  const u64 head = hasVectors ? segment.head : 0;
  const u64 first = number == 0 ? 0 : head + static_cast<u64>(number) * chunk;
  const u64 end = head + (static_cast<u64>(number) + 1) * chunk;
  const u32 count = static_cast<u32>((end < segment.count ? end : segment.count) - first);
  const u32 lead = number == 0 ? static_cast<u32>(head) : 0;
  return {first, count, hasVectors ? lead : count, 0, segment.row, segment.row, 0};
}

/// Words of the L2 policy argument (what createpolicy.fractional 1.0 builds).
struct L2 {
  static constexpr u64 NORMAL = 0x16F0000000000000;
  static constexpr u64 EVICT_LAST = 0x14F0000000000000;
  static constexpr u64 EVICT_FIRST = 0x12F0000000000000;
};

/// What a launch may carry in its parameters instead of in tables. Programs of many operands and
/// scalars have less room: every driver and compiler takes PARAMETER_BYTES.
constexpr u32 INLINE_SEGMENTS = 8, INLINE_ROWS = 16, PARAMETER_BYTES = 4096;

FW_INLINE constexpr u32 segmentRoom(u32 operands) {
  const u32 fit = (PARAMETER_BYTES - 32 - 8 * operands) / (sizeof(Segment) + 8 * operands);
  return fit == 0 ? 1 : fit < INLINE_SEGMENTS ? fit : INLINE_SEGMENTS;
}

/// 0: the rows of so many scalars need a table.
FW_INLINE constexpr u32 rowRoom(u32 operands, u32 slots, u32 realBytes) {
  const u32 at = 32 + 8 * operands + segmentRoom(operands) * (sizeof(Segment) + 8 * operands);
  const u32 rest = at < PARAMETER_BYTES ? PARAMETER_BYTES - at : 0;
  const u32 fit = slots == 0 ? INLINE_ROWS : rest / (slots * realBytes);
  return fit < INLINE_ROWS ? fit : INLINE_ROWS;
}

/// The parameter of a kernel. Two kinds of launches share it: those of plans name tables in device
/// memory, one-shot launches hold all that they need.
template <int OPERANDS, int SLOTS, class Real> struct ElementsLaunch {
  static constexpr u32 NUMBERS = rowRoom(OPERANDS, SLOTS, sizeof(Real)) * SLOTS;

  const Chunk *chunks;           // one per block; null: the blocks belong to `segments`
  const u64 *pointers[OPERANDS]; // with `chunks`: column k is operand k's address in every segment
  const Real *scalars;           // with `chunks`: [row][SLOTS]; null: `rows`
  u64 policy;                    // one of L2
  u32 perEntry;                  // 1: the row is Chunk::entry, 0: Chunk::group
  u32 segmentCount;
  Segment segments[segmentRoom(OPERANDS)]; // in order of firstBlock
  u64 addresses[segmentRoom(OPERANDS)][OPERANDS];
  Real rows[NUMBERS == 0 ? 1 : NUMBERS];
};

#if !defined(__CUDACC__)
/// Where the members of ElementsLaunch stand, for a host that has no instance of it.
struct ElementsLayout {
  u32 pointers, scalars, policy, perEntry, segmentCount, segments, addresses, rows, bytes;

  constexpr ElementsLayout(u32 operands, u32 slots, u32 realBytes)
      : pointers(sizeof(u64)), scalars(pointers + 8 * operands), policy(scalars + 8),
        perEntry(policy + 8), segmentCount(perEntry + 4), segments(segmentCount + 4),
        addresses(segments + segmentRoom(operands) * static_cast<u32>(sizeof(Segment))),
        rows(addresses + segmentRoom(operands) * 8 * operands),
        bytes(behind(rows, rowRoom(operands, slots, realBytes) * slots, realBytes)) {}

private:
  static constexpr u32 behind(u32 at, u32 numbers, u32 realBytes) {
    return (at + (numbers == 0 ? 1 : numbers) * realBytes + 7) / 8 * 8;
  }
};
#endif

} // namespace fw
