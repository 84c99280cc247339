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

/// Whether another hook than the one of `time` reads a value: a pass, what is computed at another
/// time, or a store, also through a conversion that has no text of its own.
static bool isReadElsewhere(Value value, unsigned time, const RowPhases &phases, Block *body) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != body || isa<StoreOp>(user))
      return true;
    auto cast = dyn_cast<CastOp>(user);
    return phases.timeOf(user->getResult(0)) != time ||
           (cast && isToStorage(cast) && isReadElsewhere(cast, time, phases, body));
  });
}

/// A stored value that was loaded is no member: the conversion behind it is.
void RowMembers::add(Value value) {
  if (isa<FloatType>(value.getType()) && !value.getType().isF32() && !value.getType().isF64())
    return;
  const bool isRead =
      isReadElsewhere(value, phases.timeOf(value), phases, &kernel.getBody().front());
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

std::string RowMembers::print() {
  std::string out = "  struct Row {\n";
  if (kernel.getScheduleAttr().get("bounded"))
    out += "    fw::u32 firstColumn, lastColumn; // that matter are between\n";
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
