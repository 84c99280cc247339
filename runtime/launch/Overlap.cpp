#include "runtime/launch/Overlap.h"

#include "runtime/launch/Intersection.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace fw::launch {

namespace {

/// The addresses between the first and the last byte of a tensor.
struct Extent {
  uintptr_t begin;
  uintptr_t end;
  size_t entry; ///< in list.entries
  size_t operand;
};

class OverlapCheck {
public:
  OverlapCheck(std::span<const Operand> operands, const TensorList &list)
      : operands(operands), list(list) {}

  Result<void> run() {
    for (const Extent &extent : sortedExtents()) {
      bool written = operands[extent.operand].written;
      if (const Extent *other = findShared(active.written, extent))
        return shared(*other, extent);
      if (const Extent *other = written ? findShared(active.read, extent) : nullptr)
        return shared(*other, extent);
      (written ? active.written : active.read).push_back(extent);
    }
    return {};
  }

private:
  const Entry &entryOf(const Extent &extent) const { return list.entries[extent.entry]; }

  View viewOf(const Extent &extent) const {
    const Entry &entry = entryOf(extent);
    return {
        reinterpret_cast<uintptr_t>(list.pointers[extent.entry * operands.size() + extent.operand]),
        uint64_t(entry.run) * operands[extent.operand].bytes, entry.loops, extent.operand};
  }

  std::vector<Extent> sortedExtents() const {
    std::vector<Extent> extents;
    extents.reserve(list.pointers.size());
    for (size_t entry = 0; entry < list.entries.size(); ++entry)
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k].present) {
          Extent extent{0, 0, entry, k};
          std::tie(extent.begin, extent.end) = addressRange(viewOf(extent));
          extents.push_back(extent);
        }
    std::ranges::sort(extents, [](const Extent &a, const Extent &b) {
      return std::tie(a.begin, a.entry, a.operand) < std::tie(b.begin, b.entry, b.operand);
    });
    return extents;
  }

  /// The sweep goes by address: who ends before `extent` meets nobody that comes after it either.
  const Extent *findShared(std::vector<Extent> &earlier, const Extent &extent) {
    std::erase_if(earlier, [&](const Extent &other) { return other.end <= extent.begin; });
    for (const Extent &other : earlier)
      if (!mayShare(other, extent) && intersection.of(viewOf(other), viewOf(extent)))
        return &other;
    return nullptr;
  }

  bool mayShare(const Extent &a, const Extent &b) const {
    const Operand &first = operands[a.operand], &second = operands[b.operand];
    if (!first.written && !second.written)
      return true;
    if (a.entry != b.entry || a.begin != b.begin || first.bytes != second.bytes ||
        (first.written && second.written))
      return false;
    return std::ranges::all_of(entryOf(a).loops, [&](const Loop &loop) {
      return loop.byteStrides[a.operand] == loop.byteStrides[b.operand];
    });
  }

  Error shared(const Extent &a, const Extent &b) const {
    auto name = [&](const Extent &extent) {
      return tensorName(operands, entryOf(extent).position * operands.size() + extent.operand);
    };
    const Extent &written = operands[a.operand].written ? a : b;
    const Extent &other = operands[a.operand].written ? b : a;
    return Error{Code::USAGE,
                 name(written) +
                     ": expected memory of its own, since it is written, got memory that " +
                     name(other) + " holds too",
                 "pass separate tensors"};
  }

  std::span<const Operand> operands;
  const TensorList &list;
  Intersection intersection;
  struct {
    std::vector<Extent> read, written;
  } active; ///< extents that reach beyond the current start
};

} // namespace

Result<void> checkOverlap(std::span<const Operand> operands, const TensorList &list) {
  return OverlapCheck(operands, list).run();
}

} // namespace fw::launch
