#include "compiler/passes/Precision.h"

#include "compiler/dialect/Dtypes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

FloatType elementPrecision(MLIRContext *context, ArrayAttr operands) {
  auto stores = [&](Role role, bool wide) {
    return llvm::any_of(operands.getAsRange<OperandAttr>(), [&](OperandAttr operand) {
      return operand.getRole() == role && !operand.getScope().isUniform() &&
             operand.getKind() == Kind::Real && (!wide || operand.getDtype() == "f64");
    });
  };
  Role deciding = stores(Role::Param, false) ? Role::Param : Role::In;
  if (stores(deciding, true))
    return Float64Type::get(context);
  return Float32Type::get(context);
}

FloatAttr roundTo(FloatAttr value, FloatType type) {
  APFloat rounded = value.getValue();
  bool losesInfo = false;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(type, rounded);
}

Value castTo(OpBuilder &builder, Location loc, Value value, Type type, bool saturate) {
  if (value.getType() == type)
    return value;
  return CastOp::create(builder, loc, type, value, saturate);
}

Value castToStorage(OpBuilder &builder, Location loc, Value value, OperandAttr operand) {
  StringRef name = operand.getDtype();
  if (operand.getKind() != Kind::Real)
    return value; // stores narrow it
  const Dtype *dtype = findDtype({name.data(), name.size()});
  assert(dtype && "the verifier of #fuse.operand checks the dtype");
  Type storage = storageType(builder.getContext(), name);
  return castTo(builder, loc, value, storage, dtype->saturate);
}

} // namespace fw::passes
