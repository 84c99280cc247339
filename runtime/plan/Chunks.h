// Batching: from the tensors of a list to the chunk records of one launch. Pure; no device.
#pragma once

#include "templates/vocab/launch.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fw::plan {

/// One tensor of a list, as the planner sees it.
struct ListEntry {
  uint64_t count = 0;                  ///< elements
  std::span<const uint64_t> addresses; ///< of every operand; 0: absent
  uint32_t scalars = 0;                ///< row of the scalar table
};

/// What the planner must know of a kernel.
struct ChunkRule {
  uint64_t chunk = 0;              ///< elements of a full record
  uint32_t vec = 1;                ///< elements of a vector
  std::span<const unsigned> bytes; ///< of an element of every operand
};

/// Elements to take one by one before every operand stands on a vector boundary, or `entry.count`
/// when none (or no vector) lies before the end.
uint64_t headOf(const ListEntry &entry, const ChunkRule &rule);

/// Records of all entries, in order; empty tensors vanish. Only the first record of a tensor has a
/// head: the others start on its vector boundaries.
std::vector<Chunk> planChunks(std::span<const ListEntry> list, const ChunkRule &rule);

} // namespace fw::plan
