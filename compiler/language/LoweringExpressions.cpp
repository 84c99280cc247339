#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

ExpressionLowering::ExpressionLowering(LoweringState &state, const std::set<std::string> &absent)
    : state(state), op(state.root), absent(absent) {
  for (const std::string &axis : op.op->domain.axes)
    axes.push_back({axis});
}

// --- Building ------------------------------------------------------------------------------------

void ExpressionLowering::startStatement(Location where, const std::string &newLabel) {
  state.location = where;
  state.label = newLabel;
}

Value ExpressionLowering::constant(TypedAttr value) {
  Value &known = state.constants[value];
  if (!known)
    known = arith::ConstantOp::create(state.builder, state.location, value);
  return known;
}

Value ExpressionLowering::real(double value) {
  return constant(state.builder.getF64FloatAttr(value));
}
Value ExpressionLowering::integer(int64_t value) {
  return constant(state.builder.getI64IntegerAttr(value));
}
Value ExpressionLowering::truth(bool value) { return constant(state.builder.getBoolAttr(value)); }

/// What a neutral value, or a default, is in the scalar program.
LoweredValue ExpressionLowering::literal(Type type, double value) {
  if (type == Type::Bool)
    return {truth(value != 0)};
  return {type == Type::Int ? integer(int64_t(value)) : real(value)};
}

Value ExpressionLowering::toUniformReal(Value value) {
  if (!value.getType().isInteger(64))
    return value;
  Value &known = state.reals[value];
  if (!known)
    known =
        arith::SIToFPOp::create(state.builder, state.location, state.builder.getF64Type(), value);
  return known;
}

/// A value of the scalar program as elements see it.
Value ExpressionLowering::rounded(Value uniform, mlir::Type type) {
  Value &known = state.elements[uniform];
  if (!known)
    known = fuse::UniformOp::create(state.builder, state.location, type, uniform);
  return known;
}

/// `value` as elements compute with it: f32 or i1.
Value ExpressionLowering::toElement(LoweredValue value) {
  if (!value.isElement) {
    Value uniform = toUniformReal(value.value);
    return rounded(uniform,
                   uniform.getType().isF64() ? state.builder.getF32Type() : uniform.getType());
  }
  if (!value.value.getType().isInteger(64))
    return value.value;
  Value &known = state.reals[value.value];
  if (!known)
    known = arith::SIToFPOp::create(state.builder, state.location, state.builder.getF32Type(),
                                    value.value);
  return known;
}

/// An int as elements compute with it.
Value ExpressionLowering::toWhole(LoweredValue value) {
  value = asInt(value);
  return value.isElement ? value.value : rounded(value.value, state.builder.getI64Type());
}

Value ExpressionLowering::toTypeOf(const OperandInfo &operand, LoweredValue value) {
  if (operand.type == Type::Int)
    return operand.scope.isUniform() ? asInt(value).value : toWhole(value);
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
                      fuse::IndexOp, fuse::GatherOp, arith::ConstantOp, arith::SIToFPOp>(made);
  bool isCallee = &op != &state.root;
  if (!isSource && !made->hasAttr(fuse::kName))
    made->setAttr(fuse::kName,
                  state.builder.getStringAttr(isCallee ? op.info.name + "_" + name : name));
}

mlir::Type ExpressionLowering::typeOf(const OperandInfo &operand) {
  if (operand.type != Type::Real)
    return state.builder.getIntegerType(operand.type == Type::Bool ? 1 : 64);
  return operand.scope.isUniform() ? mlir::Type(state.builder.getF64Type())
                                   : mlir::Type(state.builder.getF32Type());
}

LoweredValue ExpressionLowering::read(const std::string &operand) {
  auto [entry, isNew] = loaded.try_emplace(operand);
  if (!isNew)
    return entry->second;
  const OperandInfo &known = *op.info.operand(operand);
  if (absent.count(operand))
    entry->second = literal(known.type, *known.neutral);
  else
    entry->second = {fuse::ReadOp::create(state.builder, state.location, typeOf(known), operand),
                     !known.scope.isUniform()};
  return entry->second;
}

/// A hyper or the step of the root op, or what its draws need.
Value ExpressionLowering::scalar(const std::string &name) {
  Value &known = state.scalars[name];
  if (known)
    return known;
  const HyperInfo *hyper = state.root.info.hyper(name);
  Type kind = hyper ? hyper->type : Type::Int; // the step is an int
  mlir::Type type = kind == Type::Bool  ? mlir::Type(state.builder.getI1Type())
                    : kind == Type::Int ? mlir::Type(state.builder.getI64Type())
                                        : mlir::Type(state.builder.getF64Type());
  return known = fuse::ScalarOp::create(state.builder, state.location, type, name);
}

LoweredValue ExpressionLowering::lowerName(const std::string &name) {
  if (auto assigned = names.find(name); assigned != names.end())
    return assigned->second;
  return op.info.operand(name) ? read(name) : LoweredValue{scalar(name)};
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
    return lowerSelect(*select);
  if (auto *reduce = expr.as<Reduce>())
    return lowerReduce(expr, *reduce);
  if (auto *apply = expr.as<Apply>())
    return lowerApply(expr, *apply);
  if (auto *gather = expr.as<Gather>())
    return lowerGather(*gather);
  if (auto *member = expr.as<Member>())
    return lowerCall(*member->call, member->name);
  if (expr.as<OpCall>())
    return lowerCall(expr, "");
  llvm_unreachable("the checks refuse every other expression");
}

LoweredValue ExpressionLowering::lowerSelect(const Select &select) {
  if (std::optional<bool> known = op.values[select.condition->id].option)
    return lower(*known ? *select.ifTrue : *select.ifFalse);
  LoweredValue parts[] = {lower(*select.condition), lower(*select.ifTrue), lower(*select.ifFalse)};
  bool isElement = false;
  SmallVector<Value> values = unify(parts, isElement);
  return {make<arith::SelectOp>(values[0], values[1], values[2]), isElement};
}

LoweredValue ExpressionLowering::lowerApply(const Expr &expr, const Apply &apply) {
  const FunctionInfo &function = info(apply.function);
  if (function.takes == "v")
    return lowerOperandFunction(apply);
  if (apply.function == Function::RoundTo)
    return lowerRoundTo(apply);
  if (function.takes == "a")
    return lowerPlace(apply);
  if (function.takes.empty())
    return lowerDraw(apply);
  if (apply.function == Function::SwapPairs)
    return lowerSwapPairs(apply);
  if (apply.function == Function::Power)
    return lowerPower(apply);
  if (function.gives == Gives::Bool && apply.arguments.size() == 2 && function.takes != "bb")
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

// --- Storage -------------------------------------------------------------------------------------

LoweredValue ExpressionLowering::lowerOperandFunction(const Apply &apply) {
  const std::string &operand = apply.arguments[0]->as<Name>()->name;
  if (apply.function == Function::Largest)
    return {make<fuse::LargestOp>(state.builder.getF64Type(), operand)};
  if (apply.function == Function::Old)
    return read(operand);
  const OperandInfo &known = *op.info.operand(operand);
  Value value = toTypeOf(known, lowerName(operand));
  return {make<fuse::StoredOp>(value.getType(), operand, value), !known.scope.isUniform()};
}

/// Stays what the text says: only specialise knows the precision that it rounds from.
LoweredValue ExpressionLowering::lowerRoundTo(const Apply &apply) {
  const std::string &name = apply.arguments[0]->as<Word>()->word;
  LoweredValue argument = lower(*apply.arguments[1]);
  Value value = argument.isElement ? toElement(argument) : toUniformReal(argument.value);
  return {make<fuse::RoundToOp>(value.getType(), name, value), argument.isElement};
}

} // namespace fw::language
