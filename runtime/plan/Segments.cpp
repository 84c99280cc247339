#include "runtime/plan/Segments.h"

#include "runtime/launch/Layout.h"

namespace fw::plan {

void appendSegments(const launch::TensorList &list, size_t group, std::vector<SegmentPlace> &out) {
  for (size_t e = 0; e < list.entries.size(); ++e) {
    const launch::Entry &entry = list.entries[e];
    for (int64_t run = 0; run < entry.elements / entry.run; ++run)
      out.push_back({group, e, run, uint64_t(entry.run)});
  }
}

uint64_t addressOf(const launch::TensorList &list, const SegmentPlace &segment, size_t operand,
                   const void *base) {
  if (!base)
    return 0;
  if (list.entries[segment.entry].loops.empty())
    return reinterpret_cast<uint64_t>(base);
  return reinterpret_cast<uint64_t>(base) +
         uint64_t(launch::runOffset(list.entries[segment.entry], segment.run, operand));
}

uint64_t addressOf(const launch::TensorList &list, const SegmentPlace &segment, size_t operand) {
  return addressOf(list, segment, operand, list.pointers[segment.entry * list.operands + operand]);
}

} // namespace fw::plan
