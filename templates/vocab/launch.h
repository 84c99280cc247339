// What the host and a kernel of pattern `elements` agree on. Valid for host, NVRTC and emulator.
//
//   extern "C" __global__ void SYMBOL(const fw::Chunk *chunks,      // [gridDim.x]
//                                     const fw::u64 *pointers,      // [tensor][OPERANDS]
//                                     const Real *scalars,          // [row][SLOTS]
//                                     fw::u64 policy)               // one of fw::L2
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

/// The work of one block: elements [first, first + count) of one tensor. The first `head` of them
/// and what is left behind the last whole vector go one by one, the middle goes in vectors; so
/// element first + head of every operand stands on a 16-byte boundary unless head == count.
struct Chunk {
  u64 first;   // number of the first element inside the tensor
  u32 count;   // elements of this chunk, below 2^31
  u32 head;    // <= count
  u32 tensor;  // row of the pointer table
  u32 scalars; // row of the scalar table
};
static_assert(sizeof(Chunk) == 24 && alignof(Chunk) == 8, "the chunk table is read by the device");

/// Words of the L2 policy argument (what createpolicy.fractional 1.0 builds).
struct L2 {
  static constexpr u64 NORMAL = 0x16F0000000000000;
  static constexpr u64 EVICT_LAST = 0x14F0000000000000;
  static constexpr u64 EVICT_FIRST = 0x12F0000000000000;
};

} // namespace fw
