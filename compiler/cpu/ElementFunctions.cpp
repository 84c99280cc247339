#include "compiler/cpu/ElementFunctions.h"

#include "compiler/cpu/Traced.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// Calls `body` with the traced numbers that stand for `operands`.
template <class Body> Value traced(const Lanes &lanes, Value x, Body body) {
  if (elementOf(x.getType()).isF64())
    return body(TracedDouble{&lanes, x}).value;
  return body(TracedFloat{&lanes, x}).value;
}

/// The same operation on lanes, without the attributes that name source text.
Value cloneInLanes(const Lanes &lanes, Operation &op, ValueRange operands) {
  OperationState state(lanes.getLocation(), op.getName());
  state.addOperands(operands);
  state.addTypes(lanes.type(op.getResult(0).getType()));
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return lanes.getBuilder().create(state)->getResult(0);
}

bool isOneInstruction(Operation &op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp, arith::SelectOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ExtFOp, arith::TruncFOp, mlir::math::FmaOp,
             mlir::math::SqrtOp, mlir::math::AbsFOp, mlir::math::FloorOp, mlir::math::CeilOp,
             mlir::math::TruncOp, mlir::math::RoundEvenOp>(op);
}

} // namespace

FailureOr<Value> buildElementOp(const Lanes &lanes, Operation &op, ValueRange operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lanes.constant(cast<TypedAttr>(constant.getValue()));
  if (isOneInstruction(op))
    return cloneInLanes(lanes, op, operands);
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(&op)
      .Case([&](mlir::math::IsNaNOp) {
        return traced(lanes, operands[0], [](auto x) { return math::isNan(x); });
      })
      .Case([&](mlir::math::IsFiniteOp) {
        return traced(lanes, operands[0], [](auto x) { return math::isFinite(x); });
      })
      .Case([&](fuse::SignOp) {
        return traced(lanes, operands[0], [](auto x) { return math::sign(x); });
      })
      .Default([](Operation *other) {
        return other->emitError("expected an operation on elements, got '")
               << other->getName() << "'; the CPU backend has no lowering for it";
      });
}

} // namespace fw::cpu
