#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

Value ExpressionLowering::logic(Function function, ArrayRef<Value> arguments) {
  switch (function) {
  case Function::And:
    return make<arith::AndIOp>(arguments[0], arguments[1]);
  case Function::Or:
    return make<arith::OrIOp>(arguments[0], arguments[1]);
  case Function::Not:
    return make<arith::XOrIOp>(arguments[0], truth(true));
  default:
    llvm_unreachable("the checks let no other function of bools through");
  }
}

/// Rows are read faster than exact exponentials are made: there they may be the hardware's.
arith::FastMathFlags ExpressionLowering::exponentialForm(Value value) const {
  const bool isFast = !state.root.op->domain.axes.empty() && value.getType().isF32();
  return isFast ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
}

Value ExpressionLowering::arithmetic(Function function, ArrayRef<Value> x) {
  switch (function) {
  case Function::Add:
    return make<arith::AddFOp>(x[0], x[1]);
  case Function::Subtract:
    return make<arith::SubFOp>(x[0], x[1]);
  case Function::Multiply:
    return make<arith::MulFOp>(x[0], x[1]);
  case Function::Divide:
    return make<arith::DivFOp>(x[0], x[1]);
  case Function::Negate:
    return make<arith::NegFOp>(x[0]);
  case Function::Absolute:
    return make<math::AbsFOp>(x[0]);
  case Function::Sign:
    return make<fuse::SignOp>(x[0]);
  case Function::Minimum:
    return make<arith::MinimumFOp>(x[0], x[1]);
  case Function::Maximum:
    return make<arith::MaximumFOp>(x[0], x[1]);
  case Function::Clamp:
    return make<arith::MinimumFOp>(make<arith::MaximumFOp>(x[0], x[1]), x[2]);
  case Function::Floor:
    return make<math::FloorOp>(x[0]);
  case Function::Ceil:
    return make<math::CeilOp>(x[0]);
  case Function::Round:
    return make<math::RoundEvenOp>(x[0]);
  case Function::Truncate:
    return make<math::TruncOp>(x[0]);
  case Function::SquareRoot:
    return make<math::SqrtOp>(x[0]);
  case Function::InverseRoot:
    return make<math::RsqrtOp>(x[0]);
  case Function::Exp:
    return make<math::ExpOp>(x[0], exponentialForm(x[0]));
  case Function::Exp2:
    return make<math::Exp2Op>(x[0], exponentialForm(x[0]));
  case Function::Expm1:
    return make<math::ExpM1Op>(x[0]);
  case Function::Log:
    return make<math::LogOp>(x[0]);
  case Function::Log2:
    return make<math::Log2Op>(x[0]);
  case Function::Log1p:
    return make<math::Log1pOp>(x[0]);
  case Function::Tanh:
    return make<math::TanhOp>(x[0]);
  case Function::Erf:
    return make<math::ErfOp>(x[0]);
  case Function::Sin:
    return make<math::SinOp>(x[0]);
  case Function::Cos:
    return make<math::CosOp>(x[0]);
  case Function::Sigmoid:
    return make<fuse::SigmoidOp>(x[0]);
  case Function::Fma:
    return make<math::FmaOp>(x[0], x[1], x[2]);
  case Function::IsFinite:
    return make<math::IsFiniteOp>(x[0]);
  case Function::IsNan:
    return make<math::IsNaNOp>(x[0]);
  default:
    llvm_unreachable("the checks refuse every other function");
  }
}

// --- Ints ----------------------------------------------------------------------------------------

/// A literal is made in the type of what takes it; one that has a name was made as a real.
LoweredValue ExpressionLowering::toInt(const Expr &expr) {
  if (std::optional<int64_t> literal = literalInt(expr))
    return {integer(*literal)};
  return asInt(lower(expr));
}

LoweredValue ExpressionLowering::asInt(LoweredValue value) {
  if (value.value.getType().isInteger(64))
    return value;
  auto literal = cast<FloatAttr>(value.value.getDefiningOp<arith::ConstantOp>().getValue());
  return {integer(int64_t(literal.getValueAsDouble()))};
}

/// Ints of one side: of the scalar program, or of elements.
SmallVector<Value> ExpressionLowering::unifyInts(ArrayRef<const Expr *> arguments,
                                                 bool &isElement) {
  SmallVector<LoweredValue> values;
  for (const Expr *argument : arguments)
    values.push_back(toInt(*argument));
  isElement = llvm::any_of(values, [](const LoweredValue &value) { return value.isElement; });
  SmallVector<Value> out;
  for (const LoweredValue &value : values)
    out.push_back(isElement ? toWhole(value) : value.value);
  return out;
}

LoweredValue ExpressionLowering::lowerInts(const Apply &apply) {
  bool isElement = false;
  SmallVector<Value> x = unifyInts(apply.arguments, isElement);
  auto whole = [&](int64_t value) {
    return isElement ? toWhole({integer(value)}) : integer(value);
  };
  switch (apply.function) {
  case Function::Add:
    return {make<arith::AddIOp>(x[0], x[1]), isElement};
  case Function::Subtract:
    return {make<arith::SubIOp>(x[0], x[1]), isElement};
  case Function::Multiply:
    return {make<arith::MulIOp>(x[0], x[1]), isElement};
  case Function::Negate:
    return {make<arith::SubIOp>(whole(0), x[0]), isElement};
  case Function::Absolute:
    return {make<arith::MaxSIOp>(x[0], make<arith::SubIOp>(whole(0), x[0])), isElement};
  case Function::Sign:
    return {make<arith::MinSIOp>(make<arith::MaxSIOp>(x[0], whole(-1)), whole(1)), isElement};
  case Function::Minimum:
    return {make<arith::MinSIOp>(x[0], x[1]), isElement};
  case Function::Maximum:
    return {make<arith::MaxSIOp>(x[0], x[1]), isElement};
  case Function::Clamp:
    return {make<arith::MinSIOp>(make<arith::MaxSIOp>(x[0], x[1]), x[2]), isElement};
  case Function::IntDivide:
    return {make<fuse::IntDivOp>(x[0].getType(), x[0], x[1]), isElement};
  case Function::Remainder:
    return {make<fuse::IntModOp>(x[0].getType(), x[0], x[1]), isElement};
  case Function::ShiftLeft:
    return {make<fuse::ShiftLeftOp>(x[0].getType(), x[0], x[1]), isElement};
  case Function::ShiftRight:
    return {make<fuse::ShiftRightOp>(x[0].getType(), x[0], x[1]), isElement};
  case Function::BitXor:
    return {make<arith::XOrIOp>(x[0], x[1]), isElement};
  case Function::BitAnd:
    return {make<arith::AndIOp>(x[0], x[1]), isElement};
  case Function::BitOr:
    return {make<arith::OrIOp>(x[0], x[1]), isElement};
  default:
    llvm_unreachable("the checks let no other function of ints through");
  }
}

// --- Powers and comparisons ----------------------------------------------------------------------

/// x^n from the lowest bit of n up: x^6 = x^2 * x^4.
Value ExpressionLowering::squarings(Value base, int64_t exponent) {
  Value product;
  for (Value power = base;; power = make<arith::MulFOp>(power, power)) {
    if (exponent & 1)
      product = product ? make<arith::MulFOp>(product, power) : power;
    exponent >>= 1;
    if (exponent == 0)
      return product;
  }
}

LoweredValue ExpressionLowering::lowerPower(const Apply &apply) {
  LoweredValue base = lower(*apply.arguments[0]);
  if (!base.isElement) {
    Value count = toInt(*apply.arguments[1]).value;
    return {make<math::FPowIOp>(toUniformReal(base.value), count)};
  }
  std::optional<int64_t> exponent = literalInt(*apply.arguments[1]);
  if (*exponent == 0)
    return {real(1)};
  Value power = squarings(toElement(base), std::abs(*exponent));
  if (*exponent < 0)
    power = make<arith::DivFOp>(toElement({real(1)}), power);
  return {power, true};
}

static arith::CmpFPredicate realPredicate(Function function) {
  switch (function) {
  case Function::Equal:
    return arith::CmpFPredicate::OEQ;
  case Function::NotEqual:
    return arith::CmpFPredicate::UNE;
  case Function::Less:
    return arith::CmpFPredicate::OLT;
  case Function::LessEqual:
    return arith::CmpFPredicate::OLE;
  case Function::Greater:
    return arith::CmpFPredicate::OGT;
  default:
    return arith::CmpFPredicate::OGE;
  }
}

static arith::CmpIPredicate intPredicate(Function function) {
  switch (function) {
  case Function::Equal:
    return arith::CmpIPredicate::eq;
  case Function::NotEqual:
    return arith::CmpIPredicate::ne;
  case Function::Less:
    return arith::CmpIPredicate::slt;
  case Function::LessEqual:
    return arith::CmpIPredicate::sle;
  case Function::Greater:
    return arith::CmpIPredicate::sgt;
  default:
    return arith::CmpIPredicate::sge;
  }
}

LoweredValue ExpressionLowering::lowerComparison(const Apply &apply) {
  const Expr &left = *apply.arguments[0], &right = *apply.arguments[1];
  bool isElement = false;
  if (isInt(left) && isInt(right)) {
    SmallVector<Value> ints = unifyInts(apply.arguments, isElement);
    return {make<arith::CmpIOp>(intPredicate(apply.function), ints[0], ints[1]), isElement};
  }
  LoweredValue sides[] = {lower(left), lower(right)};
  SmallVector<Value> values = unify(sides, isElement);
  if (!values[0].getType().isInteger(1))
    return {make<arith::CmpFOp>(realPredicate(apply.function), values[0], values[1]), isElement};
  Value differ = make<arith::XOrIOp>(values[0], values[1]);
  bool wantsEqual = apply.function == Function::Equal;
  return {wantsEqual ? make<arith::XOrIOp>(differ, truth(true)) : differ, isElement};
}

} // namespace fw::language
