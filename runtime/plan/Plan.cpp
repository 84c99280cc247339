#include "runtime/plan/Plan.h"

namespace fw::plan {

Result<void> checkPointers(const Group &group, size_t operand, std::span<void *const> pointers) {
  const launch::Operand &which = group.program->operands[operand];
  if (!which.present)
    return Error{Code::USAGE,
                 which.name + ": expected an operand that the program has, got an "
                              "absent one",
                 "make a request in which the operand is present"};
  if (pointers.size() != group.length)
    return Error{Code::USAGE,
                 which.name + ": expected one address per entry of the group, " +
                     std::to_string(group.length) + ", got " + std::to_string(pointers.size()),
                 "pass as many addresses as entries; those of empty tensors are not read"};
  bool hasNull = false; // of all in one pass, which needs no branch
  for (const void *pointer : pointers)
    hasNull |= !pointer;
  for (size_t i = 0; hasNull && i < pointers.size(); ++i)
    if (group.entryOf[i] != Group::none && !pointers[i])
      return Error{Code::USAGE,
                   which.name + " of entry " + std::to_string(i) +
                       ": expected an address, got NULL",
                   "only empty tensors have no memory"};
  return {};
}

void storePointers(Group &group, size_t operand, std::span<void *const> pointers) {
  for (size_t i = 0; i < pointers.size(); ++i)
    if (group.entryOf[i] != Group::none)
      group.list.pointers[group.entryOf[i] * group.list.operands + operand] = pointers[i];
}

Stats countGroups(std::span<const Group> groups) {
  Stats stats;
  for (const Group &group : groups) {
    stats.entries += group.list.entries.size();
    for (const launch::Entry &entry : group.list.entries) {
      stats.elements += uint64_t(entry.elements);
      stats.streamedBytes +=
          uint64_t(entry.elements) * uint64_t(launch::bytesPerElement(group.program->operands));
    }
  }
  return stats;
}

} // namespace fw::plan
