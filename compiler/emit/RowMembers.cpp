#include "compiler/emit/RowMembers.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

RowMembers::RowMembers(KernelOp kernel, const RowPhases &phases) : kernel(kernel), phases(phases) {
  for (Operation &op : kernel.getBody().front())
    if (!isa<SlotOp, arith::ConstantOp>(op))
      for (Value value : op.getResults())
        add(value);
}

/// A stored value that was loaded is no member: the conversion behind it is.
void RowMembers::add(Value value) {
  if (isa<FloatType>(value.getType()) && !value.getType().isF32() && !value.getType().isF64())
    return;
  const unsigned time = phases.timeOf(value);
  const bool isRead = llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != &kernel.getBody().front() || isa<StoreOp>(user))
      return true;
    return phases.timeOf(user->getResult(0)) != time;
  });
  // A pair is moved from one of its references to another.
  const bool isReference = llvm::any_of(phases.exchanges(), [&](const RowExchange &exchange) {
    return exchange.reference && exchange.reference == value.getDefiningOp() &&
           exchange.pair == RowExchange::Pair::max_sum_exp;
  });
  if (!isRead && !isReference)
    return;
  auto name = value.getDefiningOp()->getAttrOfType<StringAttr>(kName);
  members.emplace_back(value, name ? names.unique(memberName(name.getValue())) : names.next("r"));
}

std::string RowMembers::print() const {
  std::string out = "  struct Row {\n";
  for (const auto &[value, name] : members)
    out += "    " + typeText(value.getType()) + " " + name + ";\n";
  return out + "  };\n";
}

std::optional<std::string> RowMembers::nameOf(Value value) const {
  for (const auto &[member, name] : members)
    if (member == value)
      return name;
  return std::nullopt;
}

Expressions RowMembers::texts() const {
  Expressions texts = slotTexts(kernel);
  for (const auto &[value, name] : members)
    texts.set(value, {"row." + name});
  return texts;
}

} // namespace fw::emit
