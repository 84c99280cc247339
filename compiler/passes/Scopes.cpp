#include "compiler/passes/Scopes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

static ScopeAttr elementScope(MLIRContext *context) {
  return ScopeAttr::get(context, ScopeLevel::Element);
}

static ScopeAttr joinAxes(ScopeAttr a, ScopeAttr b) {
  SmallVector<Attribute> names(a.getAxes().begin(), a.getAxes().end());
  for (Attribute name : b.getAxes())
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  return ScopeAttr::get(a.getContext(), ScopeLevel::Axes, 0, ArrayAttr::get(a.getContext(), names));
}

ScopeAttr joinScopes(ScopeAttr a, ScopeAttr b) {
  if (a.getLevel() > b.getLevel())
    std::swap(a, b);
  if (a == b || a.getLevel() < ScopeLevel::Blocks || b.isElement())
    return b;
  if (a.getLevel() == ScopeLevel::Axes)
    return joinAxes(a, b);
  return elementScope(a.getContext());
}

ScopeAnalysis::ScopeAnalysis(OpOp op) {
  op.getBody().walk([&](Operation *inner) {
    if (inner->getNumResults() == 1)
      facts[inner->getResult(0)] = transfer(op, inner);
  });
}

bool ScopeAnalysis::isElementSide(Operation *op) const {
  if (op->getNumResults() == 1)
    return facts.lookup(op->getResult(0)).elementSide;
  return true;
}

ScopeAnalysis::Fact ScopeAnalysis::transfer(OpOp op, Operation *inner) const {
  MLIRContext *context = inner->getContext();
  Fact fact{ScopeAttr::get(context, ScopeLevel::Const), isa<UniformOp>(inner)};
  for (Value operand : inner->getOperands()) {
    const Fact known = facts.lookup(operand);
    fact.scope = joinScopes(fact.scope, known.scope);
    fact.elementSide |= known.elementSide;
  }
  return llvm::TypeSwitch<Operation *, Fact>(inner)
      .Case([&](ScalarOp) { return Fact{ScopeAttr::get(context, ScopeLevel::Launch), false}; })
      .Case([&](ReadOp read) {
        ScopeAttr scope = findOperand(op.getOperands(), read.getOperand()).getScope();
        return Fact{scope, !scope.isUniform()};
      })
      .Case([&](SizeOp size) { return Fact{size.getOf(), false}; })
      .Case([&](IndexOp) { return Fact{ScopeAttr::get(context, ScopeLevel::Tensor), false}; })
      .Case([&](ReduceOp reduce) {
        return Fact{reduce.getKeep(), !reduce.getKeep().isUniform() && fact.elementSide};
      })
      .Default([&](Operation *) { return fact; });
}

} // namespace fw::passes
