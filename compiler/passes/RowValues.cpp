// What a kernel over rows computes once a row.
#include "compiler/passes/Precision.h"
#include "compiler/passes/RowForming.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

Value RowForming::onRow(Value value) {
  if (Value known = rows.lookupOrNull(value))
    return known;
  Operation *inner = value.getDefiningOp();
  if (auto uniform = dyn_cast<UniformOp>(inner)) {
    Value made = uniformOnRow(uniform);
    rows.map(value, made);
    return made;
  }
  for (Value operand : inner->getOperands())
    onRow(operand);
  return makeOnRow(inner);
}

Value RowForming::makeOnRow(Operation *inner) {
  if (isa<ReadOp, GatherOp>(inner))
    return load(body, inner, rows);
  clonePlaced(body, inner, rows);
  return rows.lookup(inner->getResult(0));
}

/// The value of an operand, in the precision of the arithmetic.
Value RowForming::load(OpBuilder &where, Operation *source, IRMapping &mapping) {
  OperandAttr operand = findOperand(op.getOperands(), source->getAttrOfType<StringAttr>("operand"));
  Type storage = storageType(op.getContext(), operand.getDtype());
  Value loaded;
  if (auto gather = dyn_cast<GatherOp>(source))
    loaded = GatherOp::create(where, source->getLoc(), storage, gather.getOperand(),
                              gather.getAxis(), mapping.lookup(gather.getPlace()));
  else
    loaded = LoadOp::create(where, source->getLoc(), storage, operand.getName());
  loaded = castTo(where, source->getLoc(), loaded, source->getResult(0).getType());
  mapping.map(source->getResult(0), loaded);
  return loaded;
}

/// Elements are numbered row-major over all axes.
Value RowForming::numberRow() {
  if (firstElement)
    return firstElement;
  const Location location = op.getLoc();
  const StringAttr spanned = spannedAxis(op);
  Value number;
  for (StringAttr axis : rowDomain(op.getDomain()).axes()) {
    if (number)
      number = arith::MulIOp::create(body, location, number, sizeOf(axis));
    if (axis == spanned)
      break;
    Value index = IndexOp::create(body, location, body.getI64Type(), axis);
    number = number ? Value(arith::AddIOp::create(body, location, number, index)) : index;
  }
  if (!number) // the only row
    number = arith::ConstantOp::create(body, location, body.getI64IntegerAttr(0));
  return firstElement = number;
}

Value RowForming::sizeOf(StringAttr axis) {
  OpBuilder before = OpBuilder::atBlockBegin(&op.getBody().front());
  auto of =
      ScopeAttr::get(op.getContext(), ScopeLevel::Axes, 0, ArrayAttr::get(op.getContext(), {axis}));
  Value size = SizeOp::create(before, op.getLoc(), before.getI64Type(), of);
  return slotOf(op.getLoc(), size, size.getType());
}

// --- Of the scalar program -----------------------------------------------------------------------

/// Operands with one value per tensor, or in all, are loaded by each row; what is computed of them
/// is computed so in the precision of the scalar program.
Value RowForming::uniformOnRow(UniformOp uniform) {
  if (!readsOperand(op, uniform.getValue()))
    return slotOf(uniform.getLoc(), uniform.getValue(), uniform.getType());
  return castTo(body, uniform.getLoc(), scalarOnRow(uniform.getValue()), uniform.getType());
}

Value RowForming::scalarOnRow(Value value) {
  if (Value known = rows.lookupOrNull(value))
    return known;
  Operation *inner = value.getDefiningOp();
  if (isa<ReadOp>(inner))
    return load(body, inner, rows);
  if (readsOperand(op, value) || isa<arith::ConstantOp>(inner)) {
    for (Value operand : inner->getOperands())
      scalarOnRow(operand);
    clonePlaced(body, inner, rows);
    return rows.lookup(value);
  }
  Value slot = slotOf(value.getLoc(), value, value.getType());
  rows.map(value, slot);
  return slot;
}

/// Slots stand in front of everything else.
Value RowForming::slotOf(Location location, Value value, Type type) {
  std::string name = scalars.slot(location, value, type);
  for (auto slot : kernel.getBody().getOps<SlotOp>())
    if (slot.getSlot() == name)
      return slot;
  OpBuilder front = OpBuilder::atBlockBegin(&kernel.getBody().front());
  return SlotOp::create(front, location, type, name);
}

} // namespace fw::passes
