#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

Value ExpressionLowering::reduced(fuse::ReduceKind kind, fuse::ScopeAttr keep, Value value) {
  mlir::Type type = keep.isUniform() ? state.builder.getF64Type() : value.getType();
  return make<fuse::ReduceOp>(type, kind, keep, value);
}

/// How many values a reduction of `value` takes for each that it keeps, a real of the scalar
/// program; null where nothing but a reduction can tell: the world's elements are known to the
/// ranks together, and what has fewer values than elements is not counted over all tensors.
Value ExpressionLowering::countOf(fuse::ScopeAttr keep, Value value, const Scope &inside) {
  bool isElement = inside.isElement();
  if (keep.getLevel() == fuse::ScopeLevel::World ||
      (keep.getLevel() == fuse::ScopeLevel::All && !isElement))
    return {};
  if (keep.isUniform() && isElement)
    return toUniformReal(sizeOf(keep));
  Value count;
  for (auto [axis, divisor] : llvm::zip(axes, inside.divisors()))
    for (const std::string &name : divisor ? axis : std::vector<std::string>()) {
      bool isKept =
          keep.getAxes() && llvm::is_contained(keep.getAxes(), state.builder.getStringAttr(name));
      if (isKept)
        continue;
      Value size = toUniformReal(sizeOfAxis(name));
      count = count ? make<arith::MulFOp>(count, size) : size;
    }
  return count;
}

/// Where nothing else counts, each value counts as 1. The select makes that a value that varies as
/// the value does.
Value ExpressionLowering::average(fuse::ScopeAttr keep, Value value, const Scope &inside) {
  Value sum = reduced(fuse::ReduceKind::Sum, keep, value);
  if (Value count = countOf(keep, value, inside))
    return make<arith::DivFOp>(sum, keep.isUniform() ? count : toElement({count}));
  Value one = constant(FloatAttr::get(value.getType(), 1.0));
  Value each = make<arith::SelectOp>(make<math::IsNaNOp>(value), one, one);
  return make<arith::DivFOp>(sum, reduced(fuse::ReduceKind::Sum, keep, each));
}

Value ExpressionLowering::oneWhere(Value condition) {
  Value one = constant(state.builder.getF32FloatAttr(1)),
        zero = constant(state.builder.getF32FloatAttr(0));
  return make<arith::SelectOp>(condition, one, zero);
}

LoweredValue ExpressionLowering::lowerReduce(const Expr &expr, const Reduce &reduce) {
  // What a rank keeps and what the world keeps have one scope, not one meaning.
  std::optional<fuse::ScopeLevel> word;
  if (reduce.kept && op.values[expr.id].scope.isUniform())
    word = fuse::symbolizeScopeLevel(reduce.kept->front().name);
  fuse::ScopeAttr keep = word ? fuse::ScopeAttr::get(state.builder.getContext(), *word)
                              : scopeAttr(op.values[expr.id].scope);
  const bool isElement = !keep.isUniform();
  Value value = toElement(lower(*reduce.value));
  auto holds = [&](fuse::ReduceKind kind) {
    Value reducedOnes = reduced(kind, keep, oneWhere(value));
    Value zero = isElement ? toElement({real(0)}) : real(0);
    return LoweredValue{make<arith::CmpFOp>(arith::CmpFPredicate::OGT, reducedOnes, zero),
                        isElement};
  };
  switch (reduce.kind) {
  case ReduceKind::Sum:
    return {reduced(fuse::ReduceKind::Sum, keep, value), isElement};
  case ReduceKind::Average:
    return {average(keep, value, op.values[reduce.value->id].scope), isElement};
  case ReduceKind::Maximum:
    return {reduced(fuse::ReduceKind::Max, keep, value), isElement};
  case ReduceKind::Minimum:
    return {reduced(fuse::ReduceKind::Min, keep, value), isElement};
  case ReduceKind::AbsMax:
    return {reduced(fuse::ReduceKind::Max, keep, make<math::AbsFOp>(value)), isElement};
  case ReduceKind::Any:
    return holds(fuse::ReduceKind::Max);
  case ReduceKind::All:
    return holds(fuse::ReduceKind::Min);
  case ReduceKind::Count:
    return {reduced(fuse::ReduceKind::Sum, keep, oneWhere(value)), isElement};
  }
  llvm_unreachable("all kinds are listed");
}

} // namespace fw::language
