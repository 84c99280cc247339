#include "runtime/plan/AddressColumns.h"

#include <algorithm>

namespace fw::plan {

AddressColumns::AddressColumns(const ProgramLists &lists, std::span<const Group> groups,
                               std::vector<uint32_t> operands)
    : lists(lists) {
  for (uint32_t operand : operands) {
    Column &column = columns.emplace_back();
    column.operand = operand;
    for (const SegmentPlace &segment : lists.segments)
      column.addresses.push_back(addressOf(groups[segment.group].list, segment, operand));
  }
}

size_t AddressColumns::place(size_t operand) const {
  return size_t(std::ranges::find(columns, operand, &Column::operand) - columns.begin());
}

bool AddressColumns::has(size_t operand) const { return place(operand) < columns.size(); }

Result<void> AddressColumns::allocate(const DeviceWorld &world) {
  for (Column &column : columns)
    if (auto made = remake(column.table, world, lists.segments.size() * sizeof(uint64_t)); !made)
      return made;
  return update(world, nullptr, false);
}

Result<void> AddressColumns::update(const DeviceWorld &world, driver::CUstream stream,
                                    bool capturing) {
  for (Column &column : columns)
    if (column.isStale) {
      if (auto updated =
              column.table.update(world, tableBytes(column.addresses), stream, capturing);
          !updated)
        return updated;
      column.isStale = false;
    }
  return {};
}

uint64_t AddressColumns::stage(const Group &group, size_t number, size_t operand,
                               std::span<void *const> pointers) {
  const size_t local = lists.find(number);
  const size_t first = lists.firstSegments[local], count = lists.firstSegments[local + 1] - first;
  stagedPlace = place(operand);
  stagedFirst = first;
  staged.resize(count);
  const uint64_t *now = columns[stagedPlace].addresses.data() + first;
  uint64_t changed = 0;
  if (lists.isDirect[local])
    for (size_t s = 0; s < count; ++s) {
      staged[s] = reinterpret_cast<uint64_t>(pointers[s]);
      changed |= staged[s] ^ now[s];
    }
  else
    for (size_t s = 0; s < count; ++s) {
      const SegmentPlace &segment = lists.segments[first + s];
      const void *base = pointers[group.list.entries[segment.entry].position];
      staged[s] = addressOf(group.list, segment, operand, base);
      changed |= staged[s] ^ now[s];
    }
  hasChanged = changed != 0;
  return changed;
}

void AddressColumns::commit() {
  Column &column = columns[stagedPlace];
  std::ranges::copy(staged, column.addresses.begin() + ptrdiff_t(stagedFirst));
  column.isStale = column.isStale || hasChanged;
}

ColumnSpans AddressColumns::spans(std::span<const uint32_t> operands, bool isStaged) {
  if (isStaged) {
    stagedColumn = columns[stagedPlace].addresses;
    std::ranges::copy(staged, stagedColumn.begin() + ptrdiff_t(stagedFirst));
  }
  ColumnSpans spans;
  for (uint32_t operand : operands) {
    const size_t at = place(operand);
    spans.push_back(isStaged && at == stagedPlace ? stagedColumn : columns[at].addresses);
  }
  return spans;
}

void AddressColumns::freeze() {
  for (Column &column : columns)
    column.table.freeze();
}

size_t AddressColumns::workspaceBytes() const {
  size_t bytes = 0;
  for (const Column &column : columns)
    bytes += column.table.workspaceBytes();
  return bytes;
}

} // namespace fw::plan
