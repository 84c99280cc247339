// Batching: from the contiguous segments of a list to the blocks of one launch. Pure; no device.
#pragma once

#include "templates/vocab/launch.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fw::plan {

/// A contiguous piece of an entry, as the planner sees it. Empty ones are left out of launches.
struct ListSegment {
  uint64_t count = 0;   ///< elements
  uint32_t segment = 0; ///< row of the pointer columns
  uint32_t group = 0;   ///< rows of the scalars
  uint32_t entry = 0;
};

/// What the planner must know of a kernel.
struct ChunkRule {
  uint64_t chunk = 0;              ///< elements of a full chunk
  uint32_t vec = 1;                ///< elements of a vector
  std::span<const unsigned> bytes; ///< of an element of every operand
};

/// Elements to take one by one before every operand stands on a vector boundary;
/// Segment::NO_VECTORS when none (or no vector) lies before the end.
uint32_t headOf(uint64_t count, std::span<const uint64_t> addresses, const ChunkRule &rule);

/// Chunks of a segment, and so blocks that it takes.
uint64_t blocksOf(const Segment &segment, uint64_t chunk);

/// Records of all segments, in order; `columns` are the addresses of every operand, by
/// ListSegment::segment. Only the first record of a segment has a head: the others start on its
/// vector boundaries.
std::vector<Chunk> planChunks(std::span<const ListSegment> list,
                              std::span<const std::span<const uint64_t>> columns,
                              const ChunkRule &rule);

} // namespace fw::plan
