#include "runtime/plan/Chunks.h"

#include <algorithm>

namespace fw::plan {
namespace {

/// True if a vector that starts at element `at` is one aligned access of every operand.
bool isAligned(const ListEntry &entry, const ChunkRule &rule, uint64_t at) {
  for (size_t k = 0; k < entry.addresses.size(); ++k) {
    uint64_t access = std::min<uint64_t>(16, uint64_t(rule.vec) * rule.bytes[k]);
    if ((entry.addresses[k] + at * rule.bytes[k]) % access != 0)
      return false;
  }
  return true;
}

} // namespace

uint64_t headOf(const ListEntry &entry, const ChunkRule &rule) {
  for (uint64_t head = 0; head < rule.vec && head + rule.vec <= entry.count; ++head)
    if (isAligned(entry, rule, head))
      return head;
  return entry.count;
}

std::vector<Chunk> planChunks(std::span<const ListEntry> list, const ChunkRule &rule) {
  std::vector<Chunk> records;
  for (size_t tensor = 0; tensor < list.size(); ++tensor) {
    const ListEntry &entry = list[tensor];
    const uint64_t head = headOf(entry, rule);
    const bool isScalar = head == entry.count; // no vector at all: every record is all head
    for (uint64_t first = 0; first < entry.count;) {
      uint64_t lead = isScalar || first != 0 ? 0 : head;
      uint64_t count = std::min(entry.count - first, rule.chunk + lead);
      records.push_back({.first = first,
                         .count = uint32_t(count),
                         .head = uint32_t(isScalar ? count : lead),
                         .tensor = uint32_t(tensor),
                         .scalars = entry.scalars});
      first += count;
    }
  }
  return records;
}

} // namespace fw::plan
