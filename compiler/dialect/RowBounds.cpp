#include "compiler/dialect/RowBounds.h"

#include <cmath>

using namespace mlir;

namespace fw::fuse {
namespace {

// --- The comparison ------------------------------------------------------------------------------

/// sign*index + limit, sign one of -1, 0, 1.
struct Affine {
  int sign = 0;
  RowLimit limit;
};

Affine scaled(Affine value, int by) {
  value.sign *= by;
  value.limit.constant *= by;
  for (auto &term : value.limit.terms)
    term.first *= by;
  return value;
}

/// Whole numbers of a row and the column's own, added and subtracted.
std::optional<Affine> affineOf(Value value, EachOp each) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return Affine{0, {{}, cast<IntegerAttr>(constant.getValue()).getInt()}};
  if (op->getBlock() != &each.getBody().front())
    return Affine{0, {{{1, value}}, 0}};
  if (isa<IndexOp>(op))
    return Affine{1, {}};
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Affine> a = affineOf(op->getOperand(0), each),
                        b = affineOf(op->getOperand(1), each);
  if (!a || !b)
    return std::nullopt;
  const Affine other = scaled(*b, isa<arith::SubIOp>(op) ? -1 : 1);
  a->sign += other.sign;
  a->limit.constant += other.limit.constant;
  a->limit.terms.append(other.limit.terms);
  return std::abs(a->sign) <= 1 ? a : std::nullopt;
}

/// Adds what a comparison says of the column: sign*index + limit, compared with 0.
bool addComparison(arith::CmpIOp compare, EachOp each, RowBounds &bounds) {
  using Predicate = arith::CmpIPredicate;
  if (!compare.getLhs().getType().isInteger(64))
    return false;
  std::optional<Affine> left = affineOf(compare.getLhs(), each),
                        right = affineOf(compare.getRhs(), each);
  if (!left || !right || std::abs(left->sign - right->sign) != 1)
    return false;
  const Predicate predicate = compare.getPredicate();
  const bool isUpper = predicate == Predicate::sle || predicate == Predicate::slt;
  const bool isStrict = predicate == Predicate::slt || predicate == Predicate::sgt;
  if (!isUpper && predicate != Predicate::sge && predicate != Predicate::sgt)
    return false;
  const int sign = left->sign - right->sign;
  // sign*index <= limit, or >=
  Affine limit = scaled(*right, 1);
  const Affine other = scaled(*left, -1);
  limit.limit.constant += other.limit.constant;
  limit.limit.terms.append(other.limit.terms);
  limit = scaled(limit, sign);
  const bool isLast = isUpper == (sign > 0);
  limit.limit.constant += isLast ? !isStrict : isStrict; // of [first, last)
  (isLast ? bounds.last : bounds.first).push_back(limit.limit);
  return true;
}

bool addCondition(Value condition, EachOp each, RowBounds &bounds) {
  Operation *op = condition.getDefiningOp();
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return addCondition(both.getLhs(), each, bounds) && addCondition(both.getRhs(), each, bounds);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && op->getBlock() == &each.getBody().front() &&
         addComparison(compare, each, bounds);
}

// --- What becomes of the columns outside
// ----------------------------------------------------------

/// What is known of a value there. `lowest`, `none`: -inf and 0, the latter also where it is so
/// unless the row's maximum is -inf itself.
enum class Outside { any, ofRow, lowest, none, noneUnless };

std::optional<double> constantOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto slot = dyn_cast<SlotOp>(op))
    for (auto result :
         scalarsBefore(slot->getParentOfType<KernelOp>()).getBody().getOps<ResultOp>())
      if (result.getSlot() == slot.getSlot())
        op = result.getValue().getDefiningOp();
  if (auto negative = dyn_cast<arith::NegFOp>(op))
    if (std::optional<double> number = constantOf(negative.getOperand()))
      return -*number;
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// Follows the operations of a pass for a column where a select has taken -inf.
class OutsideAnalysis {
public:
  explicit OutsideAnalysis(EachOp each) : each(each) {}

  /// The bounds that its selects share; nothing where it has none.
  std::optional<RowBounds> run() {
    std::optional<RowBounds> found;
    for (Operation &op : each.getBody().front()) {
      std::optional<RowBounds> own = boundsOf(&op);
      if (own && found && *own != *found)
        return std::nullopt;
      if (own)
        found = own, condition = cast<arith::SelectOp>(op).getCondition(),
        state[op.getResult(0)] = Outside::lowest;
      else if (op.getNumResults())
        state[op.getResult(0)] = transfer(&op);
    }
    return found && isNeutral() ? found : std::nullopt;
  }

  Value bounding() const { return condition; }

private:
  Outside of(Value value) const {
    if (std::optional<double> number = constantOf(value))
      return std::isinf(*number) && *number < 0 ? Outside::lowest
             : *number == 0                     ? Outside::none
                                                : Outside::ofRow;
    auto found = state.find(value);
    return found == state.end() ? Outside::ofRow : found->second;
  }

  std::optional<RowBounds> boundsOf(Operation *op) const {
    auto select = dyn_cast<arith::SelectOp>(op);
    RowBounds bounds;
    if (!select || !isa<FloatType>(select.getType()) ||
        of(select.getFalseValue()) != Outside::lowest ||
        !addCondition(select.getCondition(), each, bounds))
      return std::nullopt;
    return bounds;
  }

  Outside transfer(Operation *op) const {
    if (isa<LoadOp, LoadPairOp, GatherOp>(op))
      return Outside::any;
    for (Value operand : op->getOperands())
      if (!isa<arith::SelectOp>(op) && of(operand) == Outside::any)
        return Outside::any;
    const Outside first = op->getNumOperands() ? of(op->getOperand(0)) : Outside::ofRow;
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return ofSelect(of(select.getCondition()), of(select.getTrueValue()),
                      of(select.getFalseValue()));
    if (isa<arith::SubFOp>(op) && first == Outside::lowest) // from a maximum
      return Outside::lowest;
    if (isa<math::ExpOp>(op) && first == Outside::lowest)
      return Outside::noneUnless;
    if (auto product = dyn_cast<arith::MulFOp>(op)) // by one, of a call's default
      for (auto [a, b] : {std::pair(product.getLhs(), product.getRhs()),
                          std::pair(product.getRhs(), product.getLhs())})
        if (constantOf(a) == 1.0 && of(b) == Outside::lowest)
          return Outside::lowest;
    return Outside::ofRow;
  }

  static Outside ofSelect(Outside condition, Outside a, Outside b) {
    if (condition == Outside::any || a == Outside::any || b == Outside::any)
      return Outside::any;
    // A guard takes 0 where the maximum is -inf.
    if ((a == Outside::none && b == Outside::noneUnless) ||
        (b == Outside::none && a == Outside::noneUnless))
      return Outside::none;
    return a == b ? a : Outside::ofRow;
  }

  /// Nothing is added to a reduction, and what is stored is made of no loaded value.
  bool isNeutral() const {
    auto yield = cast<YieldOp>(each.getBody().front().getTerminator());
    for (auto [k, value] : llvm::enumerate(yield.getValues())) {
      const auto kind = cast<ReduceKindAttr>((*EachOp(each).getKinds())[k]).getValue();
      const Outside wanted = kind == ReduceKind::Max ? Outside::lowest : Outside::none;
      if (kind == ReduceKind::Min || of(value) != wanted)
        return false;
    }
    for (auto store : EachOp(each).getBody().getOps<StoreOp>())
      if (of(store.getValue()) == Outside::any)
        return false;
    return true;
  }

  mutable EachOp each;
  Value condition;
  llvm::DenseMap<Value, Outside> state; // looked up only
};

} // namespace

std::optional<RowBounds> boundsOf(KernelOp kernel, const RowPhases &phases) {
  std::optional<RowBounds> shared;
  for (auto each : kernel.getBody().getOps<EachOp>()) {
    std::optional<RowBounds> own = OutsideAnalysis(each).run();
    if (!own || (shared && *own != *shared))
      return std::nullopt;
    shared = own;
  }
  auto isKnownFirst = [&](const RowLimit &limit) {
    return llvm::all_of(limit.terms, [&](const auto &term) {
      return phases.timeOf(term.second) == RowPhases::kBegin;
    });
  };
  if (!shared || !llvm::all_of(shared->first, isKnownFirst) ||
      !llvm::all_of(shared->last, isKnownFirst))
    return std::nullopt;
  return shared;
}

Value boundingCondition(EachOp each) {
  OutsideAnalysis analysis(each);
  return analysis.run() ? analysis.bounding() : Value();
}

} // namespace fw::fuse
