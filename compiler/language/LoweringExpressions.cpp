#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

// --- Building ------------------------------------------------------------------------------------

void ExpressionLowering::startStatement(Location where, const std::string &newLabel) {
  location = where;
  label = newLabel;
}

Value ExpressionLowering::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known)
    known = arith::ConstantOp::create(builder, location, value);
  return known;
}

Value ExpressionLowering::real(double value) { return constant(builder.getF64FloatAttr(value)); }
Value ExpressionLowering::integer(int64_t value) {
  return constant(builder.getI64IntegerAttr(value));
}
Value ExpressionLowering::truth(bool value) { return constant(builder.getBoolAttr(value)); }

Value ExpressionLowering::toUniformReal(Value value) {
  if (!value.getType().isInteger(64))
    return value;
  Value &known = reals[value];
  if (!known)
    known = arith::SIToFPOp::create(builder, location, builder.getF64Type(), value);
  return known;
}

Value ExpressionLowering::toElement(LoweredValue value) {
  if (value.isElement)
    return value.value;
  Value uniform = toUniformReal(value.value);
  Value &known = elements[uniform];
  if (!known) {
    mlir::Type type = uniform.getType().isF64() ? builder.getF32Type() : uniform.getType();
    known = fuse::UniformOp::create(builder, location, type, uniform);
  }
  return known;
}

Value ExpressionLowering::toPrecisionOf(const OperandInfo &operand, LoweredValue value) {
  return operand.scope.isUniform() ? toUniformReal(value.value) : toElement(value);
}

SmallVector<Value> ExpressionLowering::unify(ArrayRef<LoweredValue> values, bool &isElement) {
  isElement = llvm::any_of(values, [](const LoweredValue &value) { return value.isElement; });
  SmallVector<Value> out;
  for (const LoweredValue &value : values)
    out.push_back(isElement ? toElement(value) : toUniformReal(value.value));
  return out;
}

// --- Names ---------------------------------------------------------------------------------------

void ExpressionLowering::assign(const std::string &name, LoweredValue value) {
  names[name] = value;
  Operation *made = value.value.getDefiningOp();
  bool isSource = isa<fuse::ReadOp, fuse::ScalarOp, fuse::UniformOp, fuse::LargestOp, fuse::SizeOp,
                      fuse::IndexOp, arith::ConstantOp, arith::SIToFPOp>(made);
  if (!isSource && !made->hasAttr(fuse::kName))
    made->setAttr(fuse::kName, builder.getStringAttr(name));
}

LoweredValue ExpressionLowering::read(const std::string &operand) {
  auto [entry, isNew] = loaded.try_emplace(operand);
  if (!isNew)
    return entry->second;
  const OperandInfo &known = *op.info.operand(operand);
  bool isElement = !known.scope.isUniform();
  auto type = isElement ? builder.getF32Type() : builder.getF64Type();
  if (absent.count(operand))
    entry->second = {real(*known.neutral)};
  else
    entry->second = {fuse::ReadOp::create(builder, location, type, operand), isElement};
  return entry->second;
}

mlir::Type ExpressionLowering::scalarType(const std::string &name) const {
  if (op.info.step == name)
    return builder.getI64Type();
  bool isBool = op.info.hyper(name)->type == Type::Bool;
  return isBool ? mlir::Type(builder.getI1Type()) : builder.getF64Type();
}

LoweredValue ExpressionLowering::lowerName(const std::string &name) {
  if (auto assigned = names.find(name); assigned != names.end())
    return assigned->second;
  if (op.info.operand(name))
    return read(name);
  auto [entry, isNew] = loaded.try_emplace(name);
  if (isNew) {
    entry->second = {fuse::ScalarOp::create(builder, location, scalarType(name), name)};
  }
  return entry->second;
}

// --- Expressions ---------------------------------------------------------------------------------

LoweredValue ExpressionLowering::lower(const Expr &expr) {
  if (std::optional<bool> known = op.values[expr.id].option)
    return {truth(*known)};
  if (std::optional<int64_t> literal = literalInt(expr))
    return {real(double(*literal))};
  if (auto *number = expr.as<Number>())
    return {real(number->value)};
  if (auto *name = expr.as<Name>())
    return lowerName(name->name);
  if (auto *select = expr.as<Select>())
    return lowerSelect(expr, *select);
  if (auto *reduce = expr.as<Reduce>())
    return lowerReduce(*reduce);
  if (auto *apply = expr.as<Apply>())
    return lowerApply(expr, *apply);
  llvm_unreachable("the checks refuse every other expression");
}

LoweredValue ExpressionLowering::lowerSelect(const Expr &expr, const Select &select) {
  if (std::optional<bool> known = op.values[select.condition->id].option)
    return lower(*known ? *select.ifTrue : *select.ifFalse);
  LoweredValue parts[] = {lower(*select.condition), lower(*select.ifTrue), lower(*select.ifFalse)};
  bool isElement = false;
  SmallVector<Value> values = unify(parts, isElement);
  return {make<arith::SelectOp>(values[0], values[1], values[2]), isElement};
}

LoweredValue ExpressionLowering::lowerApply(const Expr &expr, const Apply &apply) {
  if (info(apply.function).takes == "v")
    return lowerOperandFunction(apply);
  if (apply.function == Function::RoundTo)
    return lowerRoundTo(apply);
  if (info(apply.function).takes == "a")
    return lowerPlace(apply);
  if (apply.function == Function::Power)
    return lowerPower(apply);
  if (info(apply.function).gives == Gives::Bool && apply.arguments.size() == 2 &&
      info(apply.function).takes != "bb")
    return lowerComparison(apply);
  if (isInt(expr))
    return lowerInts(apply);
  SmallVector<LoweredValue> arguments;
  for (const Expr *argument : apply.arguments)
    arguments.push_back(lower(*argument));
  bool isElement = false;
  SmallVector<Value> values = unify(arguments, isElement);
  bool isLogic = values[0].getType().isInteger(1);
  return {isLogic ? logic(apply.function, values) : arithmetic(apply.function, values), isElement};
}

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
    return make<math::ExpOp>(x[0]);
  case Function::Exp2:
    return make<math::Exp2Op>(x[0]);
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

bool ExpressionLowering::isInt(const Expr &expr) const {
  const ValueInfo &value = op.values[expr.id];
  return value.type == Type::Int && value.scope.isUniform();
}

/// A literal is made in the type of what takes it; one that has a name was made as a real.
Value ExpressionLowering::toInt(const Expr &expr) {
  if (std::optional<int64_t> literal = literalInt(expr))
    return integer(*literal);
  Value value = lower(expr).value;
  if (value.getType().isInteger(64))
    return value;
  auto literal = cast<FloatAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
  return integer(int64_t(literal.getValueAsDouble()));
}

LoweredValue ExpressionLowering::lowerInts(const Apply &apply) {
  SmallVector<Value> x;
  for (const Expr *argument : apply.arguments)
    x.push_back(toInt(*argument));
  switch (apply.function) {
  case Function::Add:
    return {make<arith::AddIOp>(x[0], x[1])};
  case Function::Subtract:
    return {make<arith::SubIOp>(x[0], x[1])};
  case Function::Multiply:
    return {make<arith::MulIOp>(x[0], x[1])};
  case Function::Negate:
    return {make<arith::SubIOp>(integer(0), x[0])};
  case Function::Absolute:
    return {make<arith::MaxSIOp>(x[0], make<arith::SubIOp>(integer(0), x[0]))};
  case Function::Sign:
    return {make<arith::MinSIOp>(make<arith::MaxSIOp>(x[0], integer(-1)), integer(1))};
  case Function::Minimum:
    return {make<arith::MinSIOp>(x[0], x[1])};
  case Function::Maximum:
    return {make<arith::MaxSIOp>(x[0], x[1])};
  case Function::Clamp:
    return {make<arith::MinSIOp>(make<arith::MaxSIOp>(x[0], x[1]), x[2])};
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
    Value count = toInt(*apply.arguments[1]);
    return {make<math::FPowIOp>(toUniformReal(base.value), count)};
  }
  std::optional<int64_t> exponent = literalInt(*apply.arguments[1]);
  if (*exponent == 0)
    return {real(1)};
  Value power = squarings(base.value, std::abs(*exponent));
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
  if (isInt(left) && isInt(right)) {
    Value a = toInt(left), b = toInt(right);
    return {make<arith::CmpIOp>(intPredicate(apply.function), a, b)};
  }
  LoweredValue sides[] = {lower(left), lower(right)};
  bool isElement = false;
  SmallVector<Value> values = unify(sides, isElement);
  if (!values[0].getType().isInteger(1))
    return {make<arith::CmpFOp>(realPredicate(apply.function), values[0], values[1]), isElement};
  Value differ = make<arith::XOrIOp>(values[0], values[1]);
  bool wantsEqual = apply.function == Function::Equal;
  return {wantsEqual ? make<arith::XOrIOp>(differ, truth(true)) : differ, isElement};
}

// --- Storage -------------------------------------------------------------------------------------

LoweredValue ExpressionLowering::lowerOperandFunction(const Apply &apply) {
  const std::string &operand = apply.arguments[0]->as<Name>()->name;
  if (apply.function == Function::Largest)
    return {make<fuse::LargestOp>(builder.getF64Type(), operand)};
  if (apply.function == Function::Old)
    return read(operand);
  const OperandInfo &known = *op.info.operand(operand);
  Value value = toPrecisionOf(known, lowerName(operand));
  return {make<fuse::StoredOp>(value.getType(), operand, value), !known.scope.isUniform()};
}

/// Stays what the text says: only specialise knows the precision that it rounds from.
LoweredValue ExpressionLowering::lowerRoundTo(const Apply &apply) {
  const std::string &name = apply.arguments[0]->as<Word>()->word;
  LoweredValue argument = lower(*apply.arguments[1]);
  Value value = argument.isElement ? argument.value : toUniformReal(argument.value);
  return {make<fuse::RoundToOp>(value.getType(), name, value), argument.isElement};
}

} // namespace fw::language
