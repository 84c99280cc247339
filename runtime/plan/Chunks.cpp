#include "runtime/plan/Chunks.h"

#include <algorithm>

namespace fw::plan {
namespace {

/// True if a vector that starts at element `at` is one aligned access of every operand.
bool isAligned(std::span<const uint64_t> addresses, const ChunkRule &rule, uint64_t at) {
  for (size_t k = 0; k < addresses.size(); ++k) {
    uint64_t access = std::min<uint64_t>(16, uint64_t(rule.vec) * rule.bytes[k]);
    if ((addresses[k] + at * rule.bytes[k]) % access != 0)
      return false;
  }
  return true;
}

} // namespace

uint32_t headOf(uint64_t count, std::span<const uint64_t> addresses, const ChunkRule &rule) {
  for (uint32_t head = 0; head < rule.vec && head + uint64_t(rule.vec) <= count; ++head)
    if (isAligned(addresses, rule, head))
      return head;
  return Segment::NO_VECTORS;
}

uint64_t blocksOf(const Segment &segment, uint64_t chunk) {
  uint64_t head = segment.head == Segment::NO_VECTORS ? 0 : segment.head;
  return (segment.count - head + chunk - 1) / chunk;
}

std::vector<Chunk> planChunks(std::span<const ListSegment> list,
                              std::span<const std::span<const uint64_t>> columns,
                              const ChunkRule &rule) {
  std::vector<Chunk> records;
  std::vector<uint64_t> addresses(columns.size());
  for (const ListSegment &piece : list) {
    for (size_t k = 0; k < columns.size(); ++k)
      addresses[k] = columns[k][piece.segment];
    Segment segment{.count = piece.count, .head = headOf(piece.count, addresses, rule)};
    for (uint64_t number = 0, blocks = blocksOf(segment, rule.chunk); number < blocks; ++number) {
      Chunk &record =
          records.emplace_back(chunkOf(segment, uint32_t(number), uint32_t(rule.chunk)));
      record.segment = piece.segment;
      record.group = piece.group;
      record.entry = piece.entry;
    }
  }
  return records;
}

} // namespace fw::plan
