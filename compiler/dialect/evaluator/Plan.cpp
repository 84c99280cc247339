#include "compiler/dialect/evaluator/Plan.h"

#include "compiler/dialect/Pairs.h"
#include "compiler/dialect/evaluator/Operations.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace fw::evaluator {

unsigned acceptedRelations(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return 0;
  case P::OEQ:
    return EQUAL;
  case P::OGT:
    return GREATER;
  case P::OGE:
    return GREATER | EQUAL;
  case P::OLT:
    return LESS;
  case P::OLE:
    return LESS | EQUAL;
  case P::ONE:
    return LESS | GREATER;
  case P::ORD:
    return LESS | EQUAL | GREATER;
  case P::UEQ:
    return UNORDERED | EQUAL;
  case P::UGT:
    return UNORDERED | GREATER;
  case P::UGE:
    return UNORDERED | GREATER | EQUAL;
  case P::ULT:
    return UNORDERED | LESS;
  case P::ULE:
    return UNORDERED | LESS | EQUAL;
  case P::UNE:
    return UNORDERED | LESS | GREATER;
  case P::UNO:
    return UNORDERED;
  case P::AlwaysTrue:
    return UNORDERED | LESS | EQUAL | GREATER;
  }
  llvm_unreachable("all predicates are listed");
}

unsigned acceptedRelations(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return EQUAL;
  case P::ne:
    return LESS | GREATER;
  case P::slt:
    return LESS;
  case P::sle:
    return LESS | EQUAL;
  case P::sgt:
    return GREATER;
  case P::sge:
    return GREATER | EQUAL;
  default: // the language has no unsigned ints
    return 0;
  }
}

std::vector<Axes> operandAxes(fuse::OpOp op) {
  const std::vector<std::string> names = axesOf(op);
  Axes header;
  for (unsigned axis = 0; axis < std::max<size_t>(op.getDomain().axes().size(), 1); ++axis)
    header.push_back(axis);
  std::vector<Axes> out;
  for (auto operand : op.getOperands().getAsRange<fuse::OperandAttr>()) {
    const fuse::ScopeAttr scope = operand.getScope();
    out.push_back(scope.isElement() ? header : Axes());
    if (scope.getAxes())
      for (auto name : scope.getAxes().getAsRange<StringAttr>())
        out.back().push_back(unsigned(llvm::find(names, name.getValue()) - names.begin()));
  }
  return out;
}

namespace {

/// Planned by themselves: they end a pass.
constexpr std::string_view kReduce = "fuse.reduce", kSwapPairs = "fuse.swap_pairs";

template <class D> Planner<D> findPlanner(StringRef name) {
  for (const OperationRow<D> &row : kOperations<D>)
    if (name == StringRef(row.name.data(), row.name.size()))
      return row.planner;
  return nullptr;
}

Error unknownOperation(StringRef name, const char *detail = "") {
  return {Code::INTERNAL,
          "expected an operation that the evaluator knows, got '" + name.str() + "'" + detail,
          "add its row to compiler/dialect/evaluator/Operations.h"};
}

/// One bit for each axis.
using Mask = uint32_t;

Mask maskOf(const Axes &axes) {
  Mask mask = 0;
  for (unsigned axis : axes)
    mask |= Mask(1) << axis;
  return mask;
}

Axes axesOf(Mask mask) {
  Axes axes;
  for (unsigned axis = 0; mask >> axis; ++axis)
    if (mask >> axis & 1)
      axes.push_back(axis);
  return axes;
}

/// Collects the steps of an op's text, then cuts them into passes.
template <class D> class Planning {
public:
  explicit Planning(fuse::OpOp op)
      : op(op), table(op.getOperands()), axes(operandAxes(op)), axisNames(evaluator::axesOf(op)),
        headerAxes(std::max<unsigned>(op.getDomain().axes().size(), 1)),
        outerAxes(op.getDomain().getKept() ? op.getDomain().getKept().size() : headerAxes) {
    for (auto *flags : {&plan.reads, &plan.writes, &plan.guarded})
      flags->resize(table.size());
    plan.axes = std::max<unsigned>(axisNames.size(), 1);
  }

  Result<Plan<D>> run() {
    if (axisNames.size() > 32)
      return Error{Code::USAGE, "expected at most 32 axes, got " + std::to_string(axisNames.size()),
                   "give operands fewer axes of their own"};
    for (Operation &inner : op.getBody().front())
      if (Result<void> added = add(&inner); !added)
        return added.takeError();
    formPasses();
    noteGuarded();
    return std::move(plan);
  }

private:
  struct Step {
    Operation *op;
    Action<D> action;
    bool isElement;     ///< computed for places, not once for a tensor
    bool isElementSide; ///< in the elements' precision
    Mask varies;        ///< the axes that it varies with
    unsigned pass;      ///< the first one that knows it
  };

  Result<void> add(Operation *inner) {
    for (Value result : inner->getResults())
      numbers[result] = plan.values++;
    noteAccess(inner);
    if (auto reduce = dyn_cast<fuse::ReduceOp>(inner))
      return addReduction(reduce);
    if (auto swap = dyn_cast<fuse::SwapPairsOp>(inner))
      return addSwap(swap);
    Planner<D> planner = findPlanner<D>(inner->getName().getStringRef());
    if (!planner)
      return unknownOperation(inner->getName().getStringRef());
    Action<D> action = planner(siteOf(inner));
    if (!action)
      return unknownOperation(inner->getName().getStringRef(), " of these types");
    push({inner, std::move(action), isElement(inner), isElementSide(inner), variesWith(inner),
          passOf(inner)});
    return {};
  }

  void push(Step step) {
    places[step.op] = steps.size();
    steps.push_back(std::move(step));
  }

  Site siteOf(Operation *inner) const {
    return Site{inner, numbers, axes, axisNames, headerAxes, isElementSide(inner)};
  }

  Result<void> addReduction(fuse::ReduceOp reduce) {
    if (!D::REDUCES)
      return Error{Code::USAGE,
                   "expected an op without reductions for the bits of a kernel, got '" +
                       std::string(kReduce) + "'",
                   "the order of a reduction is the backend's; compare with the bounds"};
    const fuse::ScopeAttr keep = reduce.getKeep();
    if (!keep.isUniform() && !keep.getAxes())
      return Error{Code::USAGE,
                   "expected a reduction that keeps axes, a tensor, all or the world, got one that "
                   "keeps " +
                       stringifyScopeLevel(keep.getLevel()).str(),
                   "reductions of groups are not evaluated yet"};
    const unsigned pass = passOf(reduce) + 1;
    if (keep.isUniform()) {
      push({reduce, nullptr, false, false, 0, pass});
      return {};
    }
    Axes kept;
    for (auto name : keep.getAxes().getAsRange<StringAttr>())
      kept.push_back(unsigned(llvm::find(axisNames, name.getValue()) - axisNames.begin()));
    push({reduce, readSlot(reduce, kept), true, true, maskOf(kept), pass});
    return {};
  }

  /// The value comes from memory of a pass before, at the partner's place.
  Result<void> addSwap(fuse::SwapPairsOp swap) {
    const Mask varies = variesWith(swap);
    const unsigned slot = slotOf(swap), axis = siteOf(swap).axisNumber(swap.getAxis());
    Action<D> action = [r = numbers.lookup(swap.getResult()), n = numbers.lookup(swap.getCount()),
                        slot, axis, on = axesOf(varies),
                        interleaved = swap.getInterleaved()](Frame<D> &frame) {
      const size_t here = frame.index[axis];
      frame.index[axis] = partner(here, frame.wholes[n], frame.extents[axis], interleaved);
      frame.reals[r] = frame.kept[slot][frame.placeOn(on)];
      frame.index[axis] = here;
    };
    push({swap, std::move(action), true, true, varies, passOf(swap) + 1});
    return {};
  }

  /// The other place of a pair among the first `count`; `here` where it has none.
  static size_t partner(size_t here, int64_t count, size_t extent, bool interleaved) {
    const size_t paired = size_t(std::clamp<int64_t>(count, 0, int64_t(extent))) / 2 * 2;
    if (here >= paired)
      return here;
    if (interleaved)
      return here ^ 1;
    return here < paired / 2 ? here + paired / 2 : here - paired / 2;
  }

  unsigned slotOf(Operation *inner) {
    auto [entry, isNew] = slots.try_emplace(inner, plan.slots);
    plan.slots += isNew;
    return entry->second;
  }

  Action<D> readSlot(fuse::ReduceOp reduce, const Axes &kept) {
    return [r = numbers.lookup(reduce.getResult()), slot = slotOf(reduce), kept](Frame<D> &frame) {
      frame.reals[r] = frame.kept[slot][frame.placeOn(kept)];
    };
  }

  /// The pass that knows all operands.
  unsigned passOf(Operation *inner) const {
    unsigned pass = 0;
    for (Value operand : inner->getOperands())
      pass = std::max(pass, stepOf(operand).pass);
    return pass;
  }

  Mask maskOfOperand(StringRef name) const { return maskOf(axes[fuse::operandIndex(table, name)]); }
  bool ofElements(StringRef name) const {
    return !fuse::findOperand(table, name).getScope().isUniform();
  }
  Mask maskOfOuter() const { return (Mask(1) << outerAxes) - 1; }

  /// The axes that a value varies with; those of a write are its operand's.
  Mask variesWith(Operation *inner) const {
    Mask mask = 0;
    for (Value operand : inner->getOperands())
      mask |= stepOf(operand).varies;
    if (auto read = dyn_cast<fuse::ReadOp>(inner))
      return maskOfOperand(read.getOperand());
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      return maskOfOperand(write.getOperand());
    if (auto index = dyn_cast<fuse::IndexOp>(inner))
      return index.getAxis() ? Mask(1) << siteOf(inner).axisNumber(*index.getAxis()) : 0;
    if (isa<fuse::BitsOp>(inner))
      return (Mask(1) << headerAxes) - 1;
    if (auto swap = dyn_cast<fuse::SwapPairsOp>(inner))
      return mask | Mask(1) << siteOf(inner).axisNumber(swap.getAxis());
    if (auto gather = dyn_cast<fuse::GatherOp>(inner)) {
      mask |= maskOfOperand(gather.getOperand()) &
              ~(Mask(1) << siteOf(inner).axisNumber(gather.getAxis()));
      return mask ? mask : maskOfOuter();
    }
    return mask;
  }

  bool isSource(Operation *inner) const {
    if (auto index = dyn_cast<fuse::IndexOp>(inner))
      return bool(index.getAxis());
    if (auto read = dyn_cast<fuse::ReadOp>(inner))
      return ofElements(read.getOperand());
    return isa<fuse::BitsOp, fuse::GatherOp>(inner);
  }
  bool isElement(Operation *inner) const {
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      return ofElements(write.getOperand());
    return isSource(inner) ||
           llvm::any_of(inner->getOperands(), [&](Value value) { return stepOf(value).isElement; });
  }
  bool isElementSide(Operation *inner) const {
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      return ofElements(write.getOperand());
    return isa<fuse::UniformOp>(inner) || isSource(inner) ||
           llvm::any_of(inner->getOperands(),
                        [&](Value value) { return stepOf(value).isElementSide; });
  }

  const Step &stepOf(Value value) const { return steps[places.lookup(value.getDefiningOp())]; }

  void noteAccess(Operation *inner) {
    if (auto read = dyn_cast<fuse::ReadOp>(inner))
      plan.reads[fuse::operandIndex(table, read.getOperand())] = true;
    if (auto gather = dyn_cast<fuse::GatherOp>(inner))
      plan.reads[fuse::operandIndex(table, gather.getOperand())] = true;
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      plan.writes[fuse::operandIndex(table, write.getOperand())] = true;
  }

  /// A loop while it is formed: what it has to compute.
  struct Roots {
    DenseSet<Operation *> needed;
    Loop<D> loop;
  };

  void formPasses() {
    for (const Step &step : steps)
      plan.passes.resize(std::max<size_t>(plan.passes.size(), step.pass + 1));
    plan.passes.resize(std::max<size_t>(plan.passes.size(), 1));
    std::vector<std::map<Mask, Roots>> roots(plan.passes.size());
    for (const Step &step : steps) {
      if (auto reduce = dyn_cast<fuse::ReduceOp>(step.op)) {
        Roots &of = roots[step.pass - 1][stepOf(reduce.getValue()).varies | step.varies];
        of.loop.reductions.push_back(reductionOf(reduce, step));
        of.needed.insert(reduce.getValue().getDefiningOp());
      } else if (auto swap = dyn_cast<fuse::SwapPairsOp>(step.op)) {
        Roots &of = roots[step.pass - 1][step.varies];
        of.loop.keeps.push_back(
            {numbers.lookup(swap.getValue()), slotOf(swap), axesOf(step.varies)});
        of.needed.insert(swap.getValue().getDefiningOp());
      } else if (!step.isElement) {
        plan.passes[step.pass].uniform.push_back(step.action);
      } else if (isa<fuse::WriteOp>(step.op)) {
        roots.back()[step.varies].needed.insert(step.op);
      }
    }
    for (size_t pass = 0; pass < roots.size(); ++pass)
      for (auto &[mask, of] : roots[pass]) {
        of.loop.axes = axesOf(mask);
        of.loop.actions = actionsFor(of.loop.axes, std::move(of.needed));
        plan.passes[pass].loops.push_back(std::move(of.loop));
      }
  }

  Reduction<D> reductionOf(fuse::ReduceOp reduce, const Step &step) {
    using Keeps = typename Reduction<D>::Keeps;
    const bool ofTensor = reduce.getKeep().getLevel() == fuse::ScopeLevel::Tensor;
    const Keeps keeps = step.isElement ? Keeps::Axes : ofTensor ? Keeps::Tensor : Keeps::All;
    return {reduce.getKind(),
            keeps,
            typename D::Format(dtypeOf(reduce.getValue().getType())),
            numbers.lookup(reduce.getValue()),
            numbers.lookup(reduce.getResult()),
            axesOf(step.varies),
            keeps == Keeps::Axes ? slotOf(reduce) : 0,
            pairOf(reduce)};
  }

  /// Of the second reduction of what the pass pair-reductions has called a pair.
  PairedSum pairOf(fuse::ReduceOp reduce) const {
    auto name = reduce->getAttrOfType<StringAttr>(fuse::kPair);
    std::optional<fuse::Pair> pair = name ? fuse::pairOf(reduce) : std::nullopt;
    if (!pair || fuse::nameOf(pair->kind) != name)
      return {};
    const bool isMoments = pair->kind == fuse::Pair::Kind::Moments;
    return {isMoments ? PairedSum::Kind::Moments : PairedSum::Kind::Exponentials,
            numbers.lookup(pair->about), pair->isFast};
  }

  /// What a loop over `on` computes for `needed`, in the order of the text, each as seldom as it
  /// can be. What an earlier pass has left is not computed again.
  std::vector<std::vector<Action<D>>> actionsFor(const Axes &on,
                                                 DenseSet<Operation *> needed) const {
    std::vector<std::vector<Action<D>>> actions(on.size() + 1);
    for (const Step &step : llvm::reverse(steps)) {
      if (!step.isElement || !needed.contains(step.op))
        continue;
      size_t depth = 0;
      for (size_t d = 0; d < on.size(); ++d)
        if (step.varies >> on[d] & 1)
          depth = d + 1;
      actions[depth].push_back(step.action);
      if (!isa<fuse::ReduceOp, fuse::SwapPairsOp>(step.op))
        for (Value operand : step.op->getOperands())
          needed.insert(operand.getDefiningOp());
    }
    for (std::vector<Action<D>> &of : actions)
      std::reverse(of.begin(), of.end());
    return actions;
  }

  /// A uniform operand of role out reports, so it is written all the same.
  void noteGuarded() {
    if (op.getBody().getOps<fuse::SkipIfOp>().empty())
      return;
    for (auto [k, operand] : llvm::enumerate(table.getAsRange<fuse::OperandAttr>())) {
      bool reports = operand.getRole() == fuse::Role::Out && operand.getScope().isUniform();
      plan.guarded[k] = plan.writes[k] && !reports;
      plan.reads[k] = plan.reads[k] || plan.guarded[k];
    }
  }

  fuse::OpOp op;
  ArrayAttr table;
  std::vector<Axes> axes;
  std::vector<std::string> axisNames;
  unsigned headerAxes, outerAxes;
  Plan<D> plan;
  DenseMap<Value, unsigned> numbers;
  std::vector<Step> steps;
  DenseMap<Operation *, size_t> places; ///< in `steps`
  DenseMap<Operation *, unsigned> slots;
};

} // namespace

template <class D> Result<Plan<D>> plan(fuse::OpOp op) { return Planning<D>(op).run(); }

template Result<Plan<Bounds<double>>> plan(fuse::OpOp);
template Result<Plan<Bounds<long double>>> plan(fuse::OpOp);
template Result<Plan<Machine>> plan(fuse::OpOp);

std::vector<std::string_view> knownOperations() {
  std::vector<std::string_view> names = {kReduce, kSwapPairs};
  for (const OperationRow<Machine> &row : kOperations<Machine>)
    names.push_back(row.name);
  return names;
}

} // namespace fw::evaluator
