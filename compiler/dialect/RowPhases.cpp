#include "compiler/dialect/RowPhases.h"

using namespace mlir;

namespace fw::fuse {

using Pair = RowExchange::Pair;

static Pair pairOf(EachOp each) {
  auto name = each->getAttrOfType<StringAttr>(kPair);
  return !name ? Pair::none : name == "moments" ? Pair::moments : Pair::max_sum_exp;
}

RowPhases::RowPhases(KernelOp kernel) {
  EachOp open; // the first pass of a pair whose second is still to come
  for (auto each : kernel.getBody().getOps<EachOp>())
    if (each.getNumResults() == 0)
      last = each;
    else
      addReducing(each, open);
  byTime.resize(2 * found.size() + 1);
  for (auto [e, exchange] : llvm::enumerate(found)) {
    if (exchange.reference)
      times[exchange.reference] = settled(unsigned(e));
    times[exchange.reduction] = finished(unsigned(e));
  }
  for (Operation &op : kernel.getBody().front())
    if (!isa<EachOp, SlotOp, arith::ConstantOp>(op))
      place(&op);
}

void RowPhases::addReducing(EachOp each, EachOp &open) {
  const Pair pair = pairOf(each);
  if (open && pairOf(open) == pair) {
    found.back() = {open, each, pair};
    open = {};
    return;
  }
  found.push_back({{}, each, Pair::none});
  open = pair == Pair::none ? EachOp() : each;
}

void RowPhases::place(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op)) {
    stores.push_back(store);
    return;
  }
  unsigned time = kBegin;
  for (Value operand : op->getOperands())
    time = std::max(time, timeOf(operand));
  times[op] = time;
  byTime[time].push_back(op);
}

unsigned RowPhases::timeOf(Value value) const { return times.lookup(value.getDefiningOp()); }

bool RowPhases::isCounted() const {
  return llvm::any_of(found, [](const RowExchange &each) { return each.pair == Pair::moments; });
}

unsigned RowPhases::exchangedValues() const {
  unsigned most = 0;
  for (const RowExchange &exchange : found) {
    EachOp reference = exchange.reference, reduction = exchange.reduction;
    const unsigned values = reduction.getNumResults() + (reference ? reference.getNumResults() : 0);
    most = std::max(most, values + unsigned(isCounted()));
  }
  return most;
}

RowAccess rowAccess(KernelOp kernel, OperandAttr operand) {
  DomainAttr domain = *kernel->getParentOfType<ProgramOp>().getDomain();
  ScopeAttr scope = operand.getScope();
  if (scope.isElement())
    return RowAccess::stream;
  ArrayAttr axes = scope.getAxes();
  if (!axes || !llvm::is_contained(axes, domain.getSpanned()[0]))
    return RowAccess::row;
  return axes.size() == 1 ? RowAccess::column : RowAccess::stream;
}

int64_t launchAxes(KernelOp kernel) {
  const auto kept = kernel->getParentOfType<ProgramOp>().getDomain()->getKept();
  return kept.size() == 1 ? kernel.fact("row_axes") : int64_t(kept.size());
}

} // namespace fw::fuse
