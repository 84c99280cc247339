#include "compiler/passes/ScalarForming.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

Operation *clonePlaced(OpBuilder &builder, Operation *source, IRMapping &mapping) {
  Operation *copy = builder.clone(*source, mapping);
  copy->removeAttr(kScope);
  return copy;
}

ScalarForming::ScalarForming(ScalarsOp scalars, ArrayAttr scalarTable,
                             const ReductionNames &reductions)
    : builder(OpBuilder::atBlockEnd(&scalars.getBody().front())), reductions(reductions) {
  // A scalar's name is kept for its own slot, whichever order the slots come in.
  for (auto scalar : scalarTable.getAsRange<HyperAttr>())
    scalarNames.insert(scalar.getName());
}

std::string ScalarForming::slot(Location location, Value source, Type type) {
  Value value = clone(source);
  std::string &name = slots[{value, type}];
  if (name.empty()) {
    name = nameFor(source.getDefiningOp());
    ResultOp::create(builder, location, name, value, type);
  }
  return name;
}

void ScalarForming::write(WriteOp source) {
  WriteOp::create(builder, source.getLoc(), source.getOperand(), clone(source.getValue()));
}

void ScalarForming::skipIf(SkipIfOp source) {
  SkipIfOp::create(builder, source.getLoc(), clone(source.getCondition()));
}

Value ScalarForming::clone(Value value) {
  if (Value done = mapping.lookupOrNull(value))
    return done;
  Value made;
  if (auto reduction = reductions.find(value); reduction != reductions.end())
    made = ReducedOp::create(builder, value.getLoc(), builder.getF64Type(), reduction->second);
  else
    made = cloneOperation(value);
  mapping.map(value, made);
  return made;
}

/// An earlier operation that computes the same. Label and name say which equation wrote it, so
/// they do not make it another value; cse takes them for a part of it.
static Operation *findEqual(Operation *op) {
  constexpr auto flags = OperationEquivalence::Flags(OperationEquivalence::IgnoreLocations |
                                                     OperationEquivalence::IgnoreDiscardableAttrs);
  for (Operation &known : *op->getBlock())
    if (&known != op && OperationEquivalence::isEquivalentTo(
                            op, &known, OperationEquivalence::exactValueMatch, nullptr, flags))
      return &known;
  return nullptr;
}

Value ScalarForming::cloneOperation(Value value) {
  Operation *source = value.getDefiningOp();
  for (Value operand : source->getOperands())
    clone(operand);
  Operation *copy = clonePlaced(builder, source, mapping);
  Operation *known = findEqual(copy);
  if (!known)
    return copy->getResult(0);
  copy->erase();
  return known->getResult(0);
}

std::string ScalarForming::nameFor(Operation *source) {
  if (auto scalar = dyn_cast<ScalarOp>(source))
    if (taken.insert(scalar.getScalar()).second)
      return scalar.getScalar().str();
  if (auto name = source->getAttrOfType<StringAttr>(kName))
    if (!scalarNames.contains(name.getValue()) && taken.insert(name.getValue()).second)
      return name.str();
  std::string name;
  do
    name = "u" + std::to_string(unnamed++);
  while (scalarNames.contains(name) || !taken.insert(name).second);
  return name;
}

} // namespace fw::passes
