#include "compiler/passes/Scopes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

static ScopeAttr elementScope(MLIRContext *context) {
  return ScopeAttr::get(context, ScopeLevel::Element);
}

/// A scope with these axes of the domain and, behind them, those that it does not have.
static ScopeAttr axesScope(DomainAttr domain, ArrayRef<Attribute> names) {
  SmallVector<Attribute> ordered;
  for (StringAttr name : domain.axes())
    if (llvm::is_contained(names, name))
      ordered.push_back(name);
  if (ordered.size() == domain.axes().size())
    return elementScope(domain.getContext());
  for (Attribute name : names)
    if (!llvm::is_contained(ordered, name))
      ordered.push_back(name);
  MLIRContext *context = domain.getContext();
  if (ordered.empty())
    return ScopeAttr::get(context, ScopeLevel::Tensor);
  return ScopeAttr::get(context, ScopeLevel::Axes, 0, ArrayAttr::get(context, ordered));
}

static ScopeAttr joinAxes(ScopeAttr a, ScopeAttr b, DomainAttr domain) {
  SmallVector<Attribute> names(a.getAxes().begin(), a.getAxes().end());
  llvm::append_range(names, b.getAxes());
  return axesScope(domain, names);
}

ScopeAttr joinScopes(ScopeAttr a, ScopeAttr b, DomainAttr domain) {
  if (a.getLevel() > b.getLevel())
    std::swap(a, b);
  if (a == b || a.getLevel() < ScopeLevel::Blocks || b.isElement())
    return b;
  if (a.getLevel() == ScopeLevel::Axes)
    return joinAxes(a, b, domain);
  return elementScope(a.getContext());
}

/// What a read at a place of one axis varies with: the operand's other axes, and what the place
/// varies with.
static ScopeAttr gatherScope(OpOp op, GatherOp gather, ScopeAttr place) {
  ScopeAttr scope = findOperand(op.getOperands(), gather.getOperand()).getScope();
  SmallVector<Attribute> names;
  if (scope.isElement())
    llvm::append_range(names, op.getDomain().axes());
  else
    llvm::append_range(names, scope.getAxes());
  llvm::erase(names, gather.getAxisAttr());
  return joinScopes(axesScope(op.getDomain(), names), place, op.getDomain());
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
    fact.scope = joinScopes(fact.scope, known.scope, op.getDomain());
    fact.elementSide |= known.elementSide;
  }
  return llvm::TypeSwitch<Operation *, Fact>(inner)
      .Case([&](ScalarOp) { return Fact{ScopeAttr::get(context, ScopeLevel::Launch), false}; })
      .Case([&](ReadOp read) {
        ScopeAttr scope = findOperand(op.getOperands(), read.getOperand()).getScope();
        return Fact{scope, !scope.isUniform()};
      })
      .Case([&](SizeOp size) {
        const bool ofAxis = !size.getOf().isUniform();
        return Fact{ofAxis ? ScopeAttr::get(context, ScopeLevel::Tensor) : size.getOf(), false};
      })
      .Case([&](IndexOp index) {
        if (StringAttr axis = index.getAxisAttr())
          return Fact{axesScope(op.getDomain(), {axis}), true};
        return Fact{ScopeAttr::get(context, ScopeLevel::Tensor), false};
      })
      .Case([&](GatherOp gather) { return Fact{gatherScope(op, gather, fact.scope), true}; })
      .Case([&](BitsOp) { return Fact{elementScope(context), true}; })
      .Case([&](ReduceOp reduce) {
        return Fact{reduce.getKeep(), !reduce.getKeep().isUniform() && fact.elementSide};
      })
      .Default([&](Operation *) { return fact; });
}

} // namespace fw::passes
