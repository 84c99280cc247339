#include "compiler/passes/RowForming.h"

#include "compiler/passes/Precision.h"
#include "compiler/passes/Slice.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

DomainAttr rowDomain(DomainAttr domain) {
  if (domain.getSpanned() && !domain.getSpanned().empty())
    return domain;
  ArrayRef<Attribute> axes = domain.getKept().getValue();
  auto named = [&](ArrayRef<Attribute> names) {
    return ArrayAttr::get(domain.getContext(), names);
  };
  return DomainAttr::get(domain.getContext(), domain.getForm(), named(axes.drop_back()),
                         named(axes.take_back()));
}

StringAttr spannedAxis(OpOp op) {
  return cast<StringAttr>(rowDomain(op.getDomain()).getSpanned()[0]);
}

/// Whether a value of the scope differs from column to column.
static bool variesAlongRow(ScopeAttr scope, OpOp op) {
  return scope.isElement() ||
         (scope.getAxes() && llvm::is_contained(scope.getAxes(), spannedAxis(op)));
}

/// All that an operation is made of.
static llvm::SetVector<Operation *> sourcesOf(OpOp op, Operation *inner) {
  return sliceOf(op, {inner}, [](Operation &, Value) { return true; });
}

bool readsOperand(OpOp op, Value value) {
  return llvm::any_of(sourcesOf(op, value.getDefiningOp()), llvm::IsaPred<ReadOp>);
}

/// What cannot be computed at the partner's place.
static std::optional<std::string> whyNoPairs(OpOp op, SwapPairsOp swap) {
  llvm::SetVector<Operation *> slice = sourcesOf(op, swap.getValue().getDefiningOp());
  if (llvm::any_of(slice, llvm::IsaPred<SwapPairsOp>))
    return "pairs of places of what pairs of places have made";
  if (llvm::any_of(slice, llvm::IsaPred<BitsOp>))
    return "pairs of places of random numbers";
  return std::nullopt;
}

static std::optional<std::string> whyNot(OpOp op, Operation *inner, const ScopeAnalysis &scopes) {
  if (auto swap = dyn_cast<SwapPairsOp>(inner))
    return whyNoPairs(op, swap);
  if (isa<math::FPowIOp>(inner) && readsOperand(op, inner->getResult(0)))
    return "a power of an operand with one value per tensor or in all";
  if (isa<SkipIfOp>(inner))
    return "a decision to skip";
  if (auto write = dyn_cast<WriteOp>(inner);
      write && findOperand(op.getOperands(), write.getOperand()).getScope().isUniform())
    return "a result with one value per tensor or in all";
  if (auto reduce = dyn_cast<ReduceOp>(inner);
      reduce && reduce.getKeep().getAxes() != rowDomain(op.getDomain()).getKept())
    return "a reduction over rows";
  if (auto gather = dyn_cast<GatherOp>(inner);
      gather && (gather.getAxisAttr() != spannedAxis(op) ||
                 variesAlongRow(scopes.of(gather.getResult()), op)))
    return "a read at an index of another axis than that of the row";
  return std::nullopt;
}

std::optional<std::string> whyNoRows(OpOp op, const ScopeAnalysis &scopes) {
  ArrayAttr spanned = rowDomain(op.getDomain()).getSpanned();
  if (spanned.size() != 1)
    return "rows that span " + std::to_string(spanned.size()) + " axes";
  for (auto operand : op.getOperands().getAsRange<OperandAttr>())
    for (Attribute axis : operand.getScope().getAxes() ? operand.getScope().getAxes()
                                                       : ArrayAttr::get(op.getContext(), {}))
      if (!llvm::is_contained(op.getDomain().axes(), axis))
        return "an operand with an axis of its own";
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

/// What the roots need of every column. A constant is made where it is used, and what is swapped at
/// the partner's column.
llvm::SetVector<Operation *> RowForming::columnSlice(const llvm::DenseSet<Operation *> &roots) {
  return sliceOf(op, roots, [this](Operation &user, Value operand) {
    if (isa<SwapPairsOp>(user))
      return false;
    return isElement(operand) || operand.getDefiningOp<arith::ConstantOp>();
  });
}

/// What a pass needs of the row is there before it.
void RowForming::prepareRow(const llvm::SetVector<Operation *> &slice) {
  for (Operation *inner : slice) {
    if (isa<BitsOp>(inner))
      numberRow();
    if (auto swap = dyn_cast<SwapPairsOp>(inner)) {
      onRow(swap.getCount());
      prepareRow(columnSlice({swap.getValue().getDefiningOp()}));
      continue;
    }
    for (Value operand : inner->getOperands())
      if (!slice.contains(operand.getDefiningOp()))
        onRow(operand);
  }
}

void RowForming::fillEach(EachOp each, const llvm::SetVector<Operation *> &slice,
                          IRMapping &inside) {
  OpBuilder builder = OpBuilder::atBlockEnd(&each.getBody().front());
  partners.clear();
  for (Operation *inner : slice)
    if (isa<ReadOp>(inner))
      load(builder, inner, inside);
  for (Operation *inner : slice)
    if (auto swap = dyn_cast<SwapPairsOp>(inner))
      loadPartners(builder, swap);
  for (Operation *inner : slice)
    if (auto swap = dyn_cast<SwapPairsOp>(inner))
      swapPairs(builder, swap, inside);
    else if (auto bits = dyn_cast<BitsOp>(inner))
      inside.map(bits.getResult(), BitsOp::create(builder, bits.getLoc(), bits.getType(),
                                                  bits.getDrawAttr(), inside.lookup(bits.getSeed()),
                                                  inside.lookup(bits.getOffset()), numberRow()));
    else if (!isa<ReadOp, WriteOp, ReduceOp>(inner))
      clonePlaced(builder, inner, inside);
}

/// Everything that the partner's value is computed from: partners are loaded with all else.
void RowForming::loadPartners(OpBuilder &builder, SwapPairsOp swap) {
  IRMapping &there = partners[swap] = rows;
  const Value count = rows.lookup(swap.getCount());
  const bool interleaved = swap.getInterleaved();
  for (Operation *inner : columnSlice({swap.getValue().getDefiningOp()})) {
    Location location = inner->getLoc();
    if (auto read = dyn_cast<ReadOp>(inner)) {
      OperandAttr operand = findOperand(op.getOperands(), read.getOperandAttr());
      Type storage = storageType(op.getContext(), operand.getDtype());
      Value loaded =
          LoadPairOp::create(builder, location, storage, operand.getName(), count, interleaved);
      there.map(read.getResult(), castTo(builder, location, loaded, read.getType()));
    } else if (auto index = dyn_cast<IndexOp>(inner)) {
      there.map(
          index.getResult(),
          PairIndexOp::create(builder, location, index.getType(), count, interleaved).getResult());
    }
  }
}

void RowForming::swapPairs(OpBuilder &builder, SwapPairsOp swap, IRMapping &inside) {
  IRMapping &there = partners[swap];
  for (Operation *inner : columnSlice({swap.getValue().getDefiningOp()}))
    if (!isa<ReadOp, IndexOp>(inner))
      clonePlaced(builder, inner, there);
  inside.map(swap.getResult(), there.lookup(swap.getValue()));
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
  prepareRow(slice);
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
  prepareRow(slice);
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

} // namespace fw::passes
