#include "runtime/launch/Overlap.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace fw::launch {

namespace {

struct Extent {
  uintptr_t begin;
  uintptr_t end;
  size_t entry; ///< in list.entries
  size_t operand;
};

std::vector<Extent> denseExtents(std::span<const Operand> operands, const TensorList &list) {
  std::vector<Extent> extents;
  extents.reserve(list.pointers.size());
  for (size_t entry = 0; entry < list.entries.size(); ++entry)
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].present && list.entries[entry].loops.empty()) {
        auto begin = reinterpret_cast<uintptr_t>(list.pointers[entry * operands.size() + k]);
        extents.push_back(
            {begin, begin + uintptr_t(list.entries[entry].elements) * operands[k].bytes, entry, k});
      }
  std::ranges::sort(extents, [](const Extent &a, const Extent &b) {
    return std::tie(a.begin, a.entry, a.operand) < std::tie(b.begin, b.entry, b.operand);
  });
  return extents;
}

bool mayShare(std::span<const Operand> operands, const Extent &a, const Extent &b) {
  const Operand &first = operands[a.operand], &second = operands[b.operand];
  if (!first.written && !second.written)
    return true;
  return a.entry == b.entry && a.begin == b.begin && first.bytes == second.bytes &&
         !(first.written && second.written);
}

Error shared(std::span<const Operand> operands, const TensorList &list, const Extent &a,
             const Extent &b) {
  auto name = [&](const Extent &extent) {
    return tensorName(operands,
                      list.entries[extent.entry].position * operands.size() + extent.operand);
  };
  const Extent &written = operands[a.operand].written ? a : b;
  const Extent &other = operands[a.operand].written ? b : a;
  return Error{Code::USAGE,
               name(written) +
                   ": expected memory of its own, since it is written, got memory that " +
                   name(other) + " holds too",
               "pass separate tensors"};
}

} // namespace

Result<void> checkOverlap(std::span<const Operand> operands, const TensorList &list) {
  // A sweep by address; `active` are the extents that reach beyond the current start.
  struct {
    std::vector<Extent> read, written;
  } active;
  for (const Extent &extent : denseExtents(operands, list)) {
    bool written = operands[extent.operand].written;
    auto ended = [&](const Extent &earlier) { return earlier.end <= extent.begin; };
    std::erase_if(active.written, ended);
    for (const Extent &earlier : active.written)
      if (!mayShare(operands, earlier, extent))
        return shared(operands, list, earlier, extent);
    if (written) {
      std::erase_if(active.read, ended);
      for (const Extent &earlier : active.read)
        if (!mayShare(operands, earlier, extent))
          return shared(operands, list, earlier, extent);
    }
    (written ? active.written : active.read).push_back(extent);
  }
  return {};
}

} // namespace fw::launch
