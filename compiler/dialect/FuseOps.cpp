#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/ScheduleTable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fw::fuse;

#define GET_OP_CLASSES
#include "compiler/dialect/FuseOps.cpp.inc"

//===-- Names
//--------------------------------------------------------------------------------------//

static LogicalResult verifyOperandName(Operation *op, ArrayAttr operands, StringRef name) {
  if (findOperand(operands, name))
    return success();
  return op->emitOpError() << "expected the name of an operand, got '" << name << "'";
}

static LogicalResult verifyScalar(ScalarOp op, ArrayAttr scalars) {
  for (auto scalar : scalars.getAsRange<HyperAttr>()) {
    if (scalar.getName() != op.getScalar())
      continue;
    Kind kind = op.getType().isF64()        ? Kind::Real
                : op.getType().isInteger(1) ? Kind::Bool
                                            : Kind::Int;
    if (scalar.getKind() == kind)
      return success();
    return op.emitOpError() << "expected the type of a scalar of kind "
                            << stringifyKind(scalar.getKind()) << ", got " << op.getType();
  }
  return op.emitOpError() << "expected the name of a scalar, got '" << op.getScalar() << "'";
}

static LogicalResult verifyStorage(Operation *op, ArrayAttr operands, StringRef name, Type type) {
  if (failed(verifyOperandName(op, operands, name)))
    return failure();
  Type stored = storageType(op->getContext(), findOperand(operands, name).getDtype());
  if (type == stored)
    return success();
  return op->emitOpError() << "expected the storage type " << stored << " of operand '" << name
                           << "', got " << type;
}

static LogicalResult verifyGather(GatherOp gather, ArrayAttr operands) {
  OperandAttr operand = findOperand(operands, gather.getOperand());
  if (!operand)
    return verifyOperandName(gather, operands, gather.getOperand());
  ArrayAttr axes = operand.getScope().getAxes();
  if (operand.getScope().isElement() || (axes && llvm::is_contained(axes, gather.getAxisAttr())))
    return success();
  return gather.emitOpError() << "expected an axis of operand '" << gather.getOperand()
                              << "', got '" << gather.getAxis() << "'";
}

LogicalResult OpOp::verifyRegions() {
  llvm::StringSet<> written;
  auto walked = getBody().walk([&](Operation *op) -> WalkResult {
    if (auto read = dyn_cast<ReadOp>(op))
      return verifyOperandName(op, getOperands(), read.getOperand());
    if (auto gather = dyn_cast<GatherOp>(op))
      return verifyGather(gather, getOperands());
    if (auto stored = dyn_cast<StoredOp>(op))
      return verifyOperandName(op, getOperands(), stored.getOperand());
    if (auto largest = dyn_cast<LargestOp>(op))
      return verifyOperandName(op, getOperands(), largest.getOperand());
    if (auto scalar = dyn_cast<ScalarOp>(op))
      return verifyScalar(scalar, getScalars());
    if (auto write = dyn_cast<WriteOp>(op)) {
      if (!written.insert(write.getOperand()).second)
        return write.emitOpError()
               << "expected one write of operand '" << write.getOperand() << "', got a second";
      return verifyOperandName(op, getOperands(), write.getOperand());
    }
    return success();
  });
  return failure(walked.wasInterrupted());
}

//===-- Conversions
//--------------------------------------------------------------------------------//

LogicalResult UniformOp::verify() {
  bool isReal = isa<FloatType>(getType());
  if (isReal == isa<FloatType>(getValue().getType()) &&
      (isReal || getType() == getValue().getType()))
    return success();
  return emitOpError() << "expected a real for a real, a bool for a bool or an int for an int, got "
                       << getValue().getType() << " to " << getType();
}

LogicalResult ReduceOp::verify() {
  Type wanted = getKeep().isUniform() ? Float64Type::get(getContext()) : getValue().getType();
  if (getType() == wanted)
    return success();
  return emitOpError() << "expected " << wanted << " of a reduction that keeps "
                       << stringifyScopeLevel(getKeep().getLevel()) << ", got " << getType();
}

LogicalResult SizeOp::verify() {
  ScopeLevel level = getOf().getLevel();
  const bool isAxis = level == ScopeLevel::Axes && getOf().getAxes().size() == 1;
  if (level == ScopeLevel::Tensor || level == ScopeLevel::All || isAxis)
    return success();
  return emitOpError() << "expected the size of a tensor, of all or of one axis, got "
                       << stringifyScopeLevel(level);
}

LogicalResult RoundToOp::verify() {
  if (fw::findDtype({getDtype().data(), getDtype().size()}))
    return success();
  return emitOpError() << "expected one of the dtypes " << fw::listDtypes() << ", got '"
                       << getDtype() << "'";
}

LogicalResult CastOp::verify() {
  if (getValue().getType() == getType())
    return emitOpError() << "expected two different formats, got " << getType() << " twice";
  if (getSaturate() && !isa<Float8E4M3FNType, Float8E5M2Type>(getType()))
    return emitOpError() << "expected an 8-bit format with 'saturate', got " << getType();
  return success();
}

//===-- Phase level
//--------------------------------------------------------------------------------//

ScalarsOp fw::fuse::scalarsBefore(Operation *op) {
  while (op && !isa<ScalarsOp>(op))
    op = op->getPrevNode();
  return cast_or_null<ScalarsOp>(op);
}

static LogicalResult verifySlot(SlotOp slot, KernelOp kernel) {
  if (ScalarsOp scalars = scalarsBefore(kernel))
    for (auto result : scalars.getBody().getOps<ResultOp>())
      if (result.getSlot() == slot.getSlot() && result.getType() == slot.getType())
        return success();
  return slot.emitOpError() << "expected a result of the scalar program of type " << slot.getType()
                            << ", got '" << slot.getSlot() << "'";
}

LogicalResult ReducedOp::verify() {
  unsigned found = 0;
  for (Operation *op = (*this)->getParentOp()->getPrevNode(); op; op = op->getPrevNode())
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (auto reduction : kernel.getBody().getOps<ReductionOp>())
        found += reduction.getName() == getName();
  if (found == 1)
    return success();
  return emitOpError() << "expected one reduction '" << getName() << "' of a kernel before, got "
                       << found;
}

int64_t KernelOp::fact(StringRef name) {
  auto value = getFacts() ? getFacts()->getAs<IntegerAttr>(name) : IntegerAttr();
  assert(value && "the pass `schedule` sets every fact");
  return value.getInt();
}

static LogicalResult verifyFacts(KernelOp kernel, DictionaryAttr facts) {
  for (NamedAttribute fact : facts) {
    auto value = dyn_cast<IntegerAttr>(fact.getValue());
    StringRef name = fact.getName();
    if (!value)
      return kernel.emitOpError() << "expected an integer as fact " << fact.getName() << ", got "
                                  << fact.getValue();
    if (auto message = fw::checkFact({name.data(), name.size()}, value.getInt()))
      return kernel.emitOpError() << *message;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (getFacts() && failed(verifyFacts(*this, *getFacts())))
    return failure();
  if (!isa<Float32Type, Float64Type>(getReal()))
    return emitOpError() << "expected f32 or f64 as arithmetic precision, got " << getReal();
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto walked = getBody().walk([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<LoadOp>(op))
      return verifyStorage(op, program.getOperands(), load.getOperand(), load.getType());
    if (auto load = dyn_cast<LoadPairOp>(op))
      return verifyStorage(op, program.getOperands(), load.getOperand(), load.getType());
    if (auto store = dyn_cast<StoreOp>(op))
      return verifyStorage(op, program.getOperands(), store.getOperand(),
                           store.getValue().getType());
    if (auto slot = dyn_cast<SlotOp>(op))
      return verifySlot(slot, *this);
    return success();
  });
  return failure(walked.wasInterrupted());
}
