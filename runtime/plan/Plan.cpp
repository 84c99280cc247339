#include "runtime/plan/Plan.h"

#include <algorithm>

namespace fw::plan {

using launch::Scope;

namespace {

/// Numbers are read and written for empty tensors too.
bool hasMemory(const Group &group, const launch::Operand &operand, size_t entry) {
  return operand.scope != Scope::Element || group.entryOf[entry] != Group::none;
}

Error wrongCount(const Group &group, const launch::Operand &operand, size_t got) {
  if (operand.scope == Scope::All)
    return {Code::USAGE,
            operand.name + ": expected one address, since it has one value in all, got " +
                std::to_string(got),
            "pass one address; it is that of all groups"};
  return {Code::USAGE,
          operand.name + ": expected one address per entry of the group, " +
              std::to_string(group.length) + ", got " + std::to_string(got),
          "pass as many addresses as entries; those of empty tensors are not read"};
}

} // namespace

Result<void> checkPointers(const Group &group, size_t operand, std::span<void *const> pointers) {
  const launch::Operand &which = group.program->operands[operand];
  if (!which.present)
    return Error{Code::USAGE,
                 which.name + ": expected an operand that the program has, got an "
                              "absent one",
                 "make a request in which the operand is present"};
  if (pointers.size() != (which.scope == Scope::All ? 1 : group.length))
    return wrongCount(group, which, pointers.size());
  bool hasNull = false; // of all in one pass, which needs no branch
  for (const void *pointer : pointers)
    hasNull |= !pointer;
  for (size_t i = 0; hasNull && i < pointers.size(); ++i)
    if (hasMemory(group, which, i) && !pointers[i])
      return Error{Code::USAGE,
                   which.name + " of " +
                       (which.scope == Scope::All ? "all" : "entry " + std::to_string(i)) +
                       ": expected an address, got NULL",
                   "only empty tensors have no memory"};
  return {};
}

void storePointers(Group &group, size_t operand, std::span<void *const> pointers) {
  for (launch::Uniform &uniform : group.list.uniforms)
    if (uniform.operand == operand)
      return void(std::ranges::copy(pointers, uniform.addresses.begin()));
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
      stats.streamedBytes += uint64_t(entry.elements) * uint64_t(group.program->streamedBytes());
    }
  }
  if (!groups.empty())
    stats.exchanges = uint32_t(groups.front().program->exchangeCount());
  return stats;
}

Result<void> checkSharedOperands(std::span<const Group> groups) {
  for (size_t g = 1; g < groups.size(); ++g)
    for (const launch::Uniform &uniform : groups[g].list.uniforms) {
      const launch::Operand &operand = groups[g].program->operands[uniform.operand];
      const launch::Uniform *first = groups.front().list.uniform(uniform.operand);
      if (operand.scope != Scope::All || !first)
        continue;
      const std::string who = "group " + std::to_string(g) + ": " + operand.name + ": expected ";
      const std::string &dtype = groups.front().program->operands[uniform.operand].dtype;
      if (operand.dtype != dtype)
        return Error{Code::USAGE, who + "dtype " + dtype + " as in group 0, got " + operand.dtype,
                     "bind one dtype in the programs of all groups"};
      if (uniform.addresses != first->addresses)
        return Error{Code::USAGE,
                     who + "the memory of group 0, since it has one value in all, got another "
                           "address",
                     "pass the same tensor in every group"};
    }
  return {};
}

Result<void> allReduce(const fw_world &ranks, void *data, size_t count, const char *kind,
                       void *stream) {
  const fw_status status = ranks.all_reduce(ranks.user_data, data, count, "f64", kind, stream);
  if (status == FW_OK)
    return {};
  return Error{Code(status),
               std::string("expected the world's all_reduce to give FW_OK for kind \"") + kind +
                   "\", got status " + std::to_string(int(status)),
               "nothing was written; see what the host's collective says"};
}

} // namespace fw::plan
