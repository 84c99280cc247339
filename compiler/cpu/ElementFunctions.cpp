#include "compiler/cpu/ElementFunctions.h"

#include "compiler/cpu/Traced.h"
#include "compiler/cpu/Wholes.h"
#include "templates/vocab/math.h"
#include "templates/vocab/math_lean.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// `body` applied to the traced number that stands for `x`.
template <class Body> Value trace(const Lanes &lanes, Value x, Body body) {
  if (getElementTypeOrSelf(x).isF64())
    return body(TracedDouble{&lanes, x}).value;
  return body(TracedFloat{&lanes, x}).value;
}

struct Function {
  StringRef op;
  Value (*build)(const Lanes &lanes, Value x);
};

constexpr Function kFunctions[] = {
#define FW_CPU_FUNCTION(op, function)                                                              \
  Function{op, [](const Lanes &lanes, Value x) {                                                   \
             return trace(lanes, x, [](auto number) { return math::function(number); });           \
           }},
#include "compiler/cpu/functions.def"
#undef FW_CPU_FUNCTION
};

/// Exponentials that may be the hardware's on a GPU.
Value leanExponential(const Lanes &lanes, Operation &op, Value x) {
  const auto isLean = [](auto exponential) {
    return exponential &&
           arith::bitEnumContainsAll(exponential.getFastmath(), arith::FastMathFlags::afn);
  };
  if (isLean(dyn_cast<mlir::math::ExpOp>(op)))
    return trace(lanes, x, [](auto number) { return math::leanExp(number); });
  if (isLean(dyn_cast<mlir::math::Exp2Op>(op)))
    return trace(lanes, x, [](auto number) { return math::leanExp2(number); });
  return {};
}

/// The same operation on lanes, without the attributes that name source text.
Value cloneInLanes(const Lanes &lanes, Operation &op, ValueRange operands) {
  OperationState state(lanes.getLocation(), op.getName());
  state.addOperands(operands);
  state.addTypes(lanes.type(op.getResult(0).getType()));
  state.propertiesAttr = op.getPropertiesAsAttribute();
  return lanes.getBuilder().create(state)->getResult(0);
}

/// What IEEE 754 rounds once (or not at all): one instruction, or a few of LLVM's making.
bool isBasic(Operation &op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp, arith::SelectOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::CmpIOp, arith::SIToFPOp, mlir::math::FmaOp,
             mlir::math::SqrtOp, mlir::math::AbsFOp, mlir::math::FloorOp, mlir::math::CeilOp,
             mlir::math::TruncOp, mlir::math::RoundEvenOp>(op);
}

} // namespace

FailureOr<Value> buildElementOp(const Lanes &lanes, Operation &op, ValueRange operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lanes.constant(cast<TypedAttr>(constant.getValue()));
  if (isBasic(op))
    return cloneInLanes(lanes, op, operands);
  if (Value whole = buildWholeOp(lanes, op, operands))
    return whole;
  if (Value lean = leanExponential(lanes, op, operands.front()))
    return lean;
  for (const Function &function : kFunctions)
    if (function.op == op.getName().getStringRef())
      return function.build(lanes, operands[0]);
  return op.emitError("expected an operation on elements, got '")
         << op.getName() << "', which the CPU backend cannot lower";
}

} // namespace fw::cpu
