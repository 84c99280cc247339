// Calls: the callee's equations, with what is bound to its operands and hypers in their place.
#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

ExpressionLowering::ExpressionLowering(ExpressionLowering &caller, const ResolvedCall &call)
    : state(caller.state), op(call.op) {
  for (const std::vector<size_t> &own : call.axes) {
    axes.emplace_back();
    for (size_t axis : own)
      axes.back().insert(axes.back().end(), caller.axes[axis].begin(), caller.axes[axis].end());
  }
  caller.bind(*this, call);
}

void ExpressionLowering::bind(ExpressionLowering &callee, const ResolvedCall &call) {
  for (const OperandInfo &operand : call.op.info.operands) {
    auto bound = call.arguments.find(operand.name);
    if (bound != call.arguments.end())
      bindOperand(callee, operand, *bound->second);
    else if (operand.neutral)
      callee.names[operand.name] = literal(operand.type, *operand.neutral);
  }
  for (const HyperInfo &hyper : call.op.info.hypers) {
    auto bound = call.arguments.find(hyper.name);
    if (bound == call.arguments.end() && hyper.value)
      callee.names[hyper.name] = literal(hyper.type, *hyper.value);
    else if (bound != call.arguments.end() && hyper.type == Type::Int)
      callee.names[hyper.name] = toInt(*bound->second);
    else if (bound != call.arguments.end())
      callee.names[hyper.name] = {toUniformReal(lower(*bound->second).value)};
  }
}

/// An operand that the callee reads at an index stays the caller's operand.
void ExpressionLowering::bindOperand(ExpressionLowering &callee, const OperandInfo &operand,
                                     const Expr &argument) {
  if (operand.gathered) {
    const std::string &name = argument.as<Name>()->name;
    auto alias = operands.find(name);
    bool isPassed = !absent.count(name) && (alias != operands.end() || !names.count(name));
    if (isPassed)
      callee.operands[operand.name] = alias != operands.end() ? alias->second : name;
    const std::vector<std::string> &own = op.info.operand(name)->axes;
    for (size_t i = 0; i < own.size(); ++i)
      callee.ownAxes[operand.axes[i]] = rootAxes(own[i]).front();
    bool isFree = llvm::any_of(operand.axes, [&](const std::string &axis) {
      return axis != "1" && !llvm::is_contained(callee.op.op->domain.axes, axis);
    });
    if (isPassed && isFree) // never read as it is
      return;
  }
  LoweredValue value = operand.type == Type::Int ? toInt(argument) : lower(argument);
  callee.names[operand.name] = {toTypeOf(operand, value), !operand.scope.isUniform()};
}

LoweredValue ExpressionLowering::lowerCall(const Expr &expr, const std::string &member) {
  const ResolvedCall &call = *op.calls.at(expr.id);
  ExpressionLowering callee(*this, call);
  Location where = state.location;
  std::string label = state.label, output = member;
  for (const Assignment *assignment : call.op.body) {
    callee.startStatement(
        where, assignment->label.empty() ? "" : call.op.info.name + "." + assignment->label);
    LoweredValue value = callee.lower(*assignment->value);
    if (const OperandInfo *operand = call.op.info.operand(assignment->name)) {
      value = {callee.toTypeOf(*operand, value), !operand->scope.isUniform()};
      if (output.empty() && operand->role == Role::Out)
        output = operand->name;
    }
    callee.assign(assignment->name, value);
  }
  startStatement(where, label);
  return callee.names.at(output);
}

} // namespace fw::language
