#include "runtime/launch/Overlap.h"

#include "runtime/launch/Intersection.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace fw::launch {

namespace {

/// The addresses between the first and the last byte of a tensor.
struct Extent {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  size_t group = 0;    ///< number of the list
  size_t position = 0; ///< in the caller's list
  size_t operand = 0;
  const Entry *entry = nullptr; ///< null: one number
  const void *data = nullptr;
};

class OverlapCheck {
public:
  explicit OverlapCheck(std::span<const ListOfRun> lists) : lists(lists) {}

  Result<void> run() {
    for (const Extent &extent : sortedExtents()) {
      bool written = operandOf(extent).written;
      if (const Extent *other = findShared(active.written, extent))
        return shared(*other, extent);
      if (const Extent *other = written ? findShared(active.read, extent) : nullptr)
        return shared(*other, extent);
      (written ? active.written : active.read).push_back(extent);
    }
    return {};
  }

private:
  const Operand &operandOf(const Extent &extent) const {
    return lists[extent.group].operands[extent.operand];
  }

  View viewOf(const Extent &extent) const {
    const unsigned bytes = operandOf(extent).bytes;
    const auto address = reinterpret_cast<uintptr_t>(extent.data);
    if (!extent.entry)
      return {address, bytes, {}, extent.operand};
    return {address, uint64_t(extent.entry->run) * bytes, extent.entry->loops, extent.operand};
  }

  void add(std::vector<Extent> &extents, Extent extent) const {
    std::tie(extent.begin, extent.end) = addressRange(viewOf(extent));
    extents.push_back(extent);
  }

  std::vector<Extent> sortedExtents() const {
    std::vector<Extent> extents;
    for (size_t group = 0; group < lists.size(); ++group)
      addList(extents, group);
    std::ranges::sort(extents, [](const Extent &a, const Extent &b) {
      return std::tie(a.begin, a.group, a.position, a.operand) <
             std::tie(b.begin, b.group, b.position, b.operand);
    });
    return extents;
  }

  void addList(std::vector<Extent> &extents, size_t group) const {
    const auto &[operands, list] = lists[group];
    for (size_t e = 0; e < list->entries.size(); ++e)
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k].hasElements())
          add(extents, {.group = group,
                        .position = list->entries[e].position,
                        .operand = k,
                        .entry = &list->entries[e],
                        .data = list->pointers[e * operands.size() + k]});
    for (const Uniform &uniform : list->uniforms)
      for (size_t position = 0; position < uniform.addresses.size(); ++position)
        add(extents, {.group = group,
                      .position = position,
                      .operand = uniform.operand,
                      .data = uniform.addresses[position]});
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
    const Operand &first = operandOf(a), &second = operandOf(b);
    if (!first.written && !second.written)
      return true;
    if (a.group != b.group)
      return first.scope == Scope::All && second.scope == Scope::All && a.operand == b.operand;
    if (a.position != b.position || a.begin != b.begin || first.scope != second.scope ||
        first.bytes != second.bytes || (first.written && second.written))
      return false;
    return !a.entry || std::ranges::all_of(a.entry->loops, [&](const Loop &loop) {
      return loop.byteStrides[a.operand] == loop.byteStrides[b.operand];
    });
  }

  Error shared(const Extent &a, const Extent &b) const {
    auto name = [&](const Extent &extent) {
      const ListOfRun &from = lists[extent.group];
      const ArrayOrder order(from.operands, from.list->length);
      const std::string group =
          lists.size() > 1 ? "group " + std::to_string(extent.group) + ", " : "";
      return group + order.name(order.index(extent.position, extent.operand));
    };
    const Extent &written = operandOf(a).written ? a : b;
    const Extent &other = operandOf(a).written ? b : a;
    return Error{Code::USAGE,
                 name(written) +
                     ": expected memory of its own, since it is written, got memory that " +
                     name(other) + " holds too",
                 "pass separate tensors"};
  }

  std::span<const ListOfRun> lists;
  Intersection intersection;
  struct {
    std::vector<Extent> read, written;
  } active; ///< extents that reach beyond the current start
};

} // namespace

Result<void> checkOverlap(std::span<const ListOfRun> lists) { return OverlapCheck(lists).run(); }

} // namespace fw::launch
