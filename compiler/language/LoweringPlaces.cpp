#include "compiler/language/LoweringExpressions.h"

using namespace mlir;

namespace fw::language {

/// The scope as the dialect names it: axes of the root op, in its order.
fuse::ScopeAttr ExpressionLowering::scopeAttr(const Scope &scope) {
  MLIRContext *context = state.builder.getContext();
  if (scope.isUniform())
    return fuse::ScopeAttr::get(context, scope == Scope::tensor() ? fuse::ScopeLevel::Tensor
                                                                  : fuse::ScopeLevel::All);
  SmallVector<Attribute> names;
  for (auto [axis, divisor] : llvm::zip(axes, scope.divisors()))
    for (const std::string &name : divisor ? axis : std::vector<std::string>())
      names.push_back(state.builder.getStringAttr(name));
  if (names.size() == state.root.op->domain.axes.size())
    return fuse::ScopeAttr::get(context, fuse::ScopeLevel::Element);
  return fuse::ScopeAttr::get(context, fuse::ScopeLevel::Axes, 0, ArrayAttr::get(context, names));
}

/// The root op's axes that an axis of this op stands for, slowest first.
std::vector<std::string> ExpressionLowering::rootAxes(const std::string &axis) const {
  const std::vector<std::string> &header = op.op->domain.axes;
  size_t number = size_t(std::find(header.begin(), header.end(), axis) - header.begin());
  if (number < header.size())
    return axes[number];
  auto own = ownAxes.find(axis);
  return {own != ownAxes.end() ? own->second : axis};
}

Value ExpressionLowering::sizeOf(fuse::ScopeAttr scope) {
  Value &known = state.sizes[scope];
  if (!known)
    known = fuse::SizeOp::create(state.builder, state.location, state.builder.getI64Type(), scope);
  return known;
}

Value ExpressionLowering::sizeOfAxis(const std::string &axis) {
  return sizeOf(fuse::ScopeAttr::get(state.builder.getContext(), fuse::ScopeLevel::Axes, 0,
                                     state.builder.getStrArrayAttr({StringRef(axis)})));
}

Value ExpressionLowering::indexOf(const std::string &axis) {
  Value &known = state.indices[axis];
  if (!known)
    known = fuse::IndexOp::create(state.builder, state.location, state.builder.getI64Type(),
                                  axis.empty() ? StringAttr() : state.builder.getStringAttr(axis));
  return known;
}

/// Several axes that are one to the callee count as one, the last fastest.
LoweredValue ExpressionLowering::lowerPlace(const Apply &apply) {
  const std::string &word = apply.arguments[0]->as<Word>()->word;
  bool isSize = apply.function == Function::Size;
  if (word == "tensor" || word == "all")
    return {isSize ? sizeOf(scopeAttr(word == "tensor" ? Scope::tensor() : Scope::all()))
                   : indexOf("")};
  Value number;
  for (const std::string &axis : rootAxes(word)) {
    if (isSize)
      number = number ? make<arith::MulIOp>(number, sizeOfAxis(axis)) : sizeOfAxis(axis);
    else if (number)
      number = make<arith::AddIOp>(make<arith::MulIOp>(number, toWhole({sizeOfAxis(axis)})),
                                   indexOf(axis));
    else
      number = indexOf(axis);
  }
  return {number, !isSize};
}

LoweredValue ExpressionLowering::lowerGather(const Gather &gather) {
  const OperandInfo &known = *op.info.operand(gather.operand);
  const Scope &place = op.values[gather.indices[0]->id].scope;
  if (absent.count(gather.operand))
    return literal(known.type, *known.neutral);
  if (auto bound = names.find(gather.operand);
      bound != names.end() && !operands.count(gather.operand))
    return bound->second; // the neutral value of one that is not passed
  std::string axis =
      rootAxes(known.axes[*gatheredAxis(known.axes, op.op->domain.axes, place)]).front();
  auto alias = operands.find(gather.operand);
  const std::string &operand = alias != operands.end() ? alias->second : gather.operand;
  Value index = toWhole(toInt(*gather.indices[0]));
  return {make<fuse::GatherOp>(typeOf(known), operand, axis, index), true};
}

LoweredValue ExpressionLowering::lowerSwapPairs(const Apply &apply) {
  Value value = toElement(lower(*apply.arguments[0]));
  const std::string &axis = state.root.op->domain.axes.back();
  Value count = toWhole(apply.arguments.size() > 2 ? toInt(*apply.arguments[2])
                                                   : LoweredValue{sizeOfAxis(axis)});
  bool isInterleaved = apply.arguments[1]->as<Word>()->word == "interleaved";
  return {make<fuse::SwapPairsOp>(value, axis, count, isInterleaved), true};
}

/// random() is bits()/65536, without a rounding.
LoweredValue ExpressionLowering::lowerDraw(const Apply &apply) {
  Value seed = toWhole({scalar("seed")}), offset = toWhole({scalar("offset")});
  Value bits = make<fuse::BitsOp>(state.builder.getI64Type(), state.draws++, seed, offset, Value());
  if (apply.function == Function::Bits)
    return {bits, true};
  return {make<arith::MulFOp>(toElement({bits, true}), toElement({real(0x1p-16)})), true};
}

} // namespace fw::language
