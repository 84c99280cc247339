#include "compiler/dialect/Dtypes.h"
#include "compiler/passes/DtypeOptions.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Precision.h"
#include "compiler/passes/Refusal.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "specialise"

namespace fw::passes {
#define GEN_PASS_DEF_SPECIALISE
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

std::string listOperands(ArrayAttr operands) {
  std::string out;
  for (auto operand : operands.getAsRange<OperandAttr>())
    out += (out.empty() ? "" : ", ") + operand.getName().str();
  return out;
}

OperandAttr withDtype(OperandAttr operand, StringRef dtype) {
  return OperandAttr::get(operand.getContext(), operand.getName(), operand.getRole(),
                          StringAttr::get(operand.getContext(), dtype), operand.getScope(),
                          operand.getKind(), operand.getNeutral(), operand.getInit());
}

void copyLabel(Operation *from, Value to) {
  if (Attribute label = from->getAttr(kLabel))
    to.getDefiningOp()->setAttr(kLabel, label);
}

class SpecialisePass : public impl::SpecialiseBase<SpecialisePass> {
public:
  using SpecialiseBase::SpecialiseBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    if (failed(bind(op)))
      return signalPassFailure();
    FloatType precision = elementPrecision(&getContext(), op.getOperands());
    if (precision.isF64())
      widen(op, precision);
    // Collected first: each of these replaces operations of the list that the walk follows.
    for (StoredOp stored : llvm::to_vector(op.getBody().getOps<StoredOp>()))
      resolveStored(op, stored);
    for (RoundToOp rounded : llvm::to_vector(op.getBody().getOps<RoundToOp>()))
      resolveRoundTo(rounded);
    for (LargestOp largest : llvm::to_vector(op.getBody().getOps<LargestOp>()))
      resolveLargest(op, largest);
    for (UniformOp uniform : llvm::to_vector(op.getBody().getOps<UniformOp>()))
      foldConstant(uniform);
  }

private:
  LogicalResult bind(OpOp op) {
    Result<DtypeBindings> bindings = parseDtypes(dtypes.getValue());
    if (!bindings)
      return refuse(op, bindings.error());
    SmallVector<Attribute> table(op.getOperands().begin(), op.getOperands().end());
    for (const auto &[name, dtype] : *bindings) {
      OperandAttr operand = findOperand(op.getOperands(), name);
      if (!operand)
        return refuse(op, {.code = Code::USAGE,
                           .text = "expected an operand (" + listOperands(op.getOperands()) +
                                   ") to bind a dtype to, got '" + name + "'",
                           .remedy = "name one of these"});
      const IntDtype *whole = findIntDtype(dtype);
      Kind kind = !whole ? Kind::Real : whole->isBool ? Kind::Bool : Kind::Int;
      if (operand.getKind() != kind)
        return refuse(op, {.code = Code::USAGE,
                           .text = "expected a dtype of kind " +
                                   stringifyKind(operand.getKind()).str() + " for '" + name +
                                   "', got " + dtype,
                           .remedy = "bind one that stores its values"});
      if (operand.getDtype() == dtype) {
        LLVM_DEBUG(llvm::dbgs() << "keep " << name << ": it is " << dtype << " already\n");
        continue;
      }
      table[operandIndex(op.getOperands(), name)] = withDtype(operand, dtype);
      ++numBound;
    }
    op.setOperandsAttr(ArrayAttr::get(&getContext(), table));
    return success();
  }

  /// Element arithmetic is the f32 part of the body; the scalar program is f64 already.
  void widen(OpOp op, FloatType precision) {
    for (Operation &inner : op.getBody().front()) {
      for (Value result : inner.getResults())
        if (result.getType().isF32()) {
          result.setType(precision);
          ++numWidened;
        }
      if (isa<math::ExpOp, math::Exp2Op>(inner)) // of f64 there is no hardware's form
        inner.setAttr("fastmath",
                      arith::FastMathFlagsAttr::get(&getContext(), arith::FastMathFlags::none));
      if (auto constant = dyn_cast<arith::ConstantOp>(inner))
        if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
          constant.setValueAttr(roundTo(value, precision));
    }
  }

  /// `rounding`, which rounds `value`, becomes the way back from `narrow`.
  void replaceRounding(Operation *rounding, Value value, Value narrow) {
    OpBuilder builder(rounding);
    Value back = castTo(builder, rounding->getLoc(), narrow, value.getType());
    if (back != value) {
      copyLabel(rounding, narrow);
      copyLabel(rounding, back);
      if (Attribute name = rounding->getAttr(kName))
        back.getDefiningOp()->setAttr(kName, name);
    } else {
      LLVM_DEBUG(llvm::dbgs() << "drop a rounding to the element precision\n");
    }
    rounding->getResult(0).replaceAllUsesWith(back);
    rounding->erase();
  }

  void resolveStored(OpOp op, StoredOp stored) {
    OpBuilder builder(stored);
    OperandAttr operand = findOperand(op.getOperands(), stored.getOperand());
    Value narrow = castToStorage(builder, stored.getLoc(), stored.getValue(), operand);
    replaceRounding(stored, stored.getValue(), narrow);
    ++numStored;
  }

  void resolveRoundTo(RoundToOp rounded) {
    OpBuilder builder(rounded);
    StringRef name = rounded.getDtype();
    const Dtype *dtype = findDtype({name.data(), name.size()});
    Type storage = storageType(&getContext(), name);
    Value narrow = rounded.getValue();
    // A wider dtype holds every value as it is.
    if (storage.getIntOrFloatBitWidth() < narrow.getType().getIntOrFloatBitWidth())
      narrow = castTo(builder, rounded.getLoc(), narrow, storage, dtype->saturate);
    replaceRounding(rounded, rounded.getValue(), narrow);
  }

  void resolveLargest(OpOp op, LargestOp largest) {
    OpBuilder builder(largest);
    StringRef name = findOperand(op.getOperands(), largest.getOperand()).getDtype();
    const Dtype *dtype = findDtype({name.data(), name.size()});
    auto constant = arith::ConstantOp::create(builder, largest.getLoc(),
                                              builder.getF64FloatAttr(dtype->largest));
    largest.replaceAllUsesWith(constant.getResult());
    largest.erase();
  }

  void foldConstant(UniformOp uniform) {
    auto constant = uniform.getValue().getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return;
    Value folded = constant;
    if (constant.getType() != uniform.getType()) {
      OpBuilder builder(uniform);
      auto rounded =
          roundTo(cast<FloatAttr>(constant.getValue()), cast<FloatType>(uniform.getType()));
      folded = arith::ConstantOp::create(builder, uniform.getLoc(), rounded);
    }
    uniform.replaceAllUsesWith(folded);
    uniform.erase();
  }
};

} // namespace
} // namespace fw::passes
