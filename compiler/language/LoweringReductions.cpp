#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

fuse::ScopeAttr ExpressionLowering::scopeAttr(fuse::ScopeLevel level) {
  return fuse::ScopeAttr::get(builder.getContext(), level);
}

Value ExpressionLowering::sizeOf(fuse::ScopeLevel level) {
  Value &known = sizes[level];
  if (!known)
    known = fuse::SizeOp::create(builder, location, builder.getI64Type(), scopeAttr(level));
  return known;
}

LoweredValue ExpressionLowering::lowerPlace(const Apply &apply) {
  bool isTensor = apply.arguments[0]->as<Word>()->word == "tensor";
  if (apply.function == Function::Size)
    return {sizeOf(isTensor ? fuse::ScopeLevel::Tensor : fuse::ScopeLevel::All)};
  if (!index)
    index = fuse::IndexOp::create(builder, location, builder.getI64Type());
  return {index};
}

Value ExpressionLowering::reduced(fuse::ReduceKind kind, fuse::ScopeLevel keep, Value value) {
  return make<fuse::ReduceOp>(builder.getF64Type(), kind, scopeAttr(keep), value);
}

/// Only the ranks together know how many elements the world has: each counts as 1. The select makes
/// that a value of the elements, which alone are reduced.
Value ExpressionLowering::average(fuse::ScopeLevel keep, Value value) {
  Value sum = reduced(fuse::ReduceKind::Sum, keep, value);
  if (keep != fuse::ScopeLevel::World)
    return make<arith::DivFOp>(sum, toUniformReal(sizeOf(keep)));
  Value one = constant(FloatAttr::get(value.getType(), 1.0));
  Value each = make<arith::SelectOp>(make<math::IsNaNOp>(value), one, one);
  return make<arith::DivFOp>(sum, reduced(fuse::ReduceKind::Sum, keep, each));
}

Value ExpressionLowering::oneWhere(Value condition) {
  Value one = constant(builder.getF32FloatAttr(1)), zero = constant(builder.getF32FloatAttr(0));
  return make<arith::SelectOp>(condition, one, zero);
}

LoweredValue ExpressionLowering::lowerReduce(const Reduce &reduce) {
  const std::string &kept = reduce.kept->front().name;
  fuse::ScopeLevel keep = *fuse::symbolizeScopeLevel(kept);
  Value value = toElement(lower(*reduce.value));
  auto holds = [&](fuse::ReduceKind kind) {
    Value reducedOnes = reduced(kind, keep, oneWhere(value));
    return LoweredValue{make<arith::CmpFOp>(arith::CmpFPredicate::OGT, reducedOnes, real(0))};
  };
  switch (reduce.kind) {
  case ReduceKind::Sum:
    return {reduced(fuse::ReduceKind::Sum, keep, value)};
  case ReduceKind::Average:
    return {average(keep, value)};
  case ReduceKind::Maximum:
    return {reduced(fuse::ReduceKind::Max, keep, value)};
  case ReduceKind::Minimum:
    return {reduced(fuse::ReduceKind::Min, keep, value)};
  case ReduceKind::AbsMax:
    return {reduced(fuse::ReduceKind::Max, keep, make<math::AbsFOp>(value))};
  case ReduceKind::Any:
    return holds(fuse::ReduceKind::Max);
  case ReduceKind::All:
    return holds(fuse::ReduceKind::Min);
  case ReduceKind::Count:
    return {reduced(fuse::ReduceKind::Sum, keep, oneWhere(value))};
  }
  llvm_unreachable("all kinds are listed");
}

} // namespace fw::language
