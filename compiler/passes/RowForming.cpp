#include "compiler/passes/RowForming.h"

#include "compiler/passes/Precision.h"
#include "compiler/passes/Slice.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

/// The axis that a row spans.
static StringAttr spannedAxis(OpOp op) { return cast<StringAttr>(op.getDomain().getSpanned()[0]); }

/// Whether a value of the scope differs from column to column.
static bool variesAlongRow(ScopeAttr scope, OpOp op) {
  return scope.isElement() ||
         (scope.getAxes() && llvm::is_contained(scope.getAxes(), spannedAxis(op)));
}

/// What the scalar program, which has whole numbers of f64, does not compute.
static bool isBitsOfInts(Operation *inner) {
  if (isa<IntDivOp, IntModOp, ShiftLeftOp, ShiftRightOp>(inner))
    return true;
  return isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(inner) &&
         inner->getResult(0).getType().isInteger(64);
}

static std::optional<std::string> whyNot(OpOp op, Operation *inner, const ScopeAnalysis &scopes) {
  if (isa<BitsOp>(inner))
    return "random numbers";
  if (isa<SwapPairsOp>(inner))
    return "pairs of places";
  if (isBitsOfInts(inner) && !scopes.isElementSide(inner))
    return "quotients, shifts or bits of ints that a launch has one of";
  if (isa<SkipIfOp>(inner))
    return "a decision to skip";
  if (auto reduce = dyn_cast<ReduceOp>(inner);
      reduce && reduce.getKeep().getAxes() != op.getDomain().getKept())
    return "a reduction over rows";
  if (auto gather = dyn_cast<GatherOp>(inner);
      gather && (gather.getAxisAttr() != spannedAxis(op) ||
                 variesAlongRow(scopes.of(gather.getResult()), op)))
    return "a read at an index of another axis than that of the row";
  return std::nullopt;
}

std::optional<std::string> whyNoRows(OpOp op, const ScopeAnalysis &scopes) {
  ArrayAttr spanned = op.getDomain().getSpanned();
  if (!spanned || spanned.size() != 1)
    return "rows that span " + std::to_string(spanned ? spanned.size() : 0) + " axes";
  for (auto operand : op.getOperands().getAsRange<OperandAttr>()) {
    if (operand.getScope().isUniform())
      return "an operand with one value per tensor or in all";
    for (Attribute axis : operand.getScope().getAxes() ? operand.getScope().getAxes()
                                                       : ArrayAttr::get(op.getContext(), {}))
      if (!llvm::is_contained(op.getDomain().axes(), axis))
        return "an operand with an axis of its own";
  }
  for (Operation &inner : op.getBody().front())
    if (std::optional<std::string> why = whyNot(op, &inner, scopes))
      return why;
  return std::nullopt;
}

RowForming::RowForming(OpOp op, const ScopeAnalysis &scopes, ScalarForming &scalars,
                       KernelOp kernel)
    : op(op), scopes(scopes), scalars(scalars), kernel(kernel),
      body(OpBuilder::atBlockEnd(&kernel.getBody().front())) {
  for (Operation &inner : op.getBody().front()) {
    const bool ends = isa<ReduceOp>(inner);
    passes[&inner] = passOf(&inner) + ends;
    if (ends)
      last = std::max(last, passes[&inner]);
  }
}

bool RowForming::isElement(Value value) const { return variesAlongRow(scopes.of(value), op); }

unsigned RowForming::passOf(Operation *inner) const {
  unsigned pass = 0;
  for (Value operand : inner->getOperands())
    pass = std::max(pass, passes.lookup(operand.getDefiningOp()));
  return pass;
}

void RowForming::form() {
  for (unsigned pass = 0; pass < last; ++pass)
    formReducing(pass);
  formStoring();
}

// --- Passes --------------------------------------------------------------------------------------

/// What the roots need of every column. A constant is made where it is used.
llvm::SetVector<Operation *> RowForming::columnSlice(const llvm::DenseSet<Operation *> &roots) {
  return sliceOf(op, roots, [this](Operation &, Value operand) {
    return isElement(operand) || operand.getDefiningOp<arith::ConstantOp>();
  });
}

void RowForming::fillEach(EachOp each, const llvm::SetVector<Operation *> &slice,
                          IRMapping &inside) {
  OpBuilder builder = OpBuilder::atBlockEnd(&each.getBody().front());
  for (Operation *inner : slice)
    if (isa<ReadOp>(inner))
      load(builder, inner, inside);
  for (Operation *inner : slice)
    if (!isa<ReadOp, WriteOp, ReduceOp>(inner))
      clonePlaced(builder, inner, inside);
}

void RowForming::formReducing(unsigned pass) {
  SmallVector<ReduceOp> reductions;
  llvm::DenseSet<Operation *> roots;
  SmallVector<Attribute> kinds;
  SmallVector<Type> types;
  for (auto reduce : op.getBody().getOps<ReduceOp>())
    if (passes.lookup(reduce) == pass + 1) {
      reductions.push_back(reduce);
      roots.insert(reduce);
      kinds.push_back(reduce.getKindAttr());
      types.push_back(reduce.getValue().getType());
    }
  llvm::SetVector<Operation *> slice = columnSlice(roots);
  for (Operation *inner : slice)
    for (Value operand : inner->getOperands())
      if (!slice.contains(operand.getDefiningOp()))
        onRow(operand);
  IRMapping inside = rows;
  auto each = EachOp::create(body, op.getLoc(), types, ArrayAttr::get(op.getContext(), kinds));
  each.getBody().emplaceBlock();
  fillEach(each, slice, inside);
  OpBuilder end = OpBuilder::atBlockEnd(&each.getBody().front());
  SmallVector<Value> yielded;
  for (ReduceOp reduce : reductions)
    yielded.push_back(inside.lookup(reduce.getValue()));
  YieldOp::create(end, op.getLoc(), yielded);
  if (Attribute pair = reductions.size() == 1 ? reductions[0]->getAttr(kPair) : Attribute())
    each->setAttr(kPair, pair);
  for (auto [k, reduce] : llvm::enumerate(reductions))
    rows.map(reduce.getResult(), each.getResult(k));
}

/// All that a row needs is computed before its first element is stored.
void RowForming::formStoring() {
  llvm::DenseSet<Operation *> roots;
  SmallVector<std::pair<WriteOp, Value>> ofRow;
  for (auto write : op.getBody().getOps<WriteOp>()) {
    OperandAttr operand = findOperand(op.getOperands(), write.getOperand());
    if (variesAlongRow(operand.getScope(), op))
      roots.insert(write);
    else
      ofRow.push_back({write, onRow(write.getValue())});
  }
  llvm::SetVector<Operation *> slice = columnSlice(roots);
  for (Operation *inner : slice)
    for (Value operand : inner->getOperands())
      if (!slice.contains(operand.getDefiningOp()))
        onRow(operand);
  if (!roots.empty()) {
    IRMapping inside = rows;
    auto each = EachOp::create(body, op.getLoc(), TypeRange(), ArrayAttr());
    each.getBody().emplaceBlock();
    fillEach(each, slice, inside);
    OpBuilder end = OpBuilder::atBlockEnd(&each.getBody().front());
    for (Operation *inner : slice)
      if (auto write = dyn_cast<WriteOp>(inner)) {
        OperandAttr operand = findOperand(op.getOperands(), write.getOperand());
        Value stored = castToStorage(end, write.getLoc(), inside.lookup(write.getValue()), operand);
        StoreOp::create(end, write.getLoc(), operand.getName(), stored);
      }
    YieldOp::create(end, op.getLoc());
  }
  for (auto [write, value] : ofRow) {
    OperandAttr operand = findOperand(op.getOperands(), write.getOperand());
    StoreOp::create(body, write.getLoc(), operand.getName(),
                    castToStorage(body, write.getLoc(), value, operand));
  }
}

// --- Once a row ----------------------------------------------------------------------------------

Value RowForming::onRow(Value value) {
  if (Value known = rows.lookupOrNull(value))
    return known;
  Operation *inner = value.getDefiningOp();
  if (auto uniform = dyn_cast<UniformOp>(inner)) {
    Value slot = slotOf(uniform);
    rows.map(value, slot);
    return slot;
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

/// Slots stand in front of everything else.
Value RowForming::slotOf(UniformOp uniform) {
  std::string name = scalars.slot(uniform.getLoc(), uniform.getValue(), uniform.getType());
  for (auto slot : kernel.getBody().getOps<SlotOp>())
    if (slot.getSlot() == name)
      return slot;
  OpBuilder front = OpBuilder::atBlockBegin(&kernel.getBody().front());
  return SlotOp::create(front, uniform.getLoc(), uniform.getType(), name);
}

} // namespace fw::passes
