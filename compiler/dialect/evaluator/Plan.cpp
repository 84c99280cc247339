#include "compiler/dialect/evaluator/Plan.h"

#include "compiler/dialect/evaluator/Operations.h"

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

namespace {

/// Planned by itself: it ends a pass.
constexpr std::string_view kReduce = "fuse.reduce";

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

/// Collects the steps of an op's text, then cuts them into passes.
template <class D> class Planning {
public:
  explicit Planning(fuse::OpOp op) : op(op), table(op.getOperands()) {
    for (auto *flags : {&plan.reads, &plan.writes, &plan.guarded})
      flags->resize(table.size());
  }

  Result<Plan<D>> run() {
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
    bool isElement; ///< computed for every element
    unsigned pass;  ///< the first one that knows it
  };

  Result<void> add(Operation *inner) {
    for (Value result : inner->getResults())
      numbers[result] = plan.values++;
    noteAccess(inner);
    if (auto reduce = dyn_cast<fuse::ReduceOp>(inner))
      return addReduction(reduce);
    Planner<D> planner = findPlanner<D>(inner->getName().getStringRef());
    if (!planner)
      return unknownOperation(inner->getName().getStringRef());
    Action<D> action = planner(Site{inner, numbers});
    if (!action)
      return unknownOperation(inner->getName().getStringRef(), " of these types");
    places[inner] = steps.size();
    steps.push_back({inner, std::move(action), isElement(inner), passOf(inner)});
    return {};
  }

  Result<void> addReduction(fuse::ReduceOp reduce) {
    if (!D::REDUCES)
      return Error{Code::USAGE,
                   "expected an op without reductions for the bits of a kernel, got '" +
                       std::string(kReduce) + "'",
                   "the order of a reduction is the backend's; compare with the bounds"};
    if (!reduce.getKeep().isUniform())
      return Error{
          Code::USAGE,
          "expected a reduction that keeps a tensor, all or the world, got one that keeps " +
              stringifyScopeLevel(reduce.getKeep().getLevel()).str(),
          "reductions of rows are not evaluated yet"};
    places[reduce] = steps.size();
    steps.push_back({reduce, nullptr, false, passOf(reduce) + 1});
    return {};
  }

  /// The pass that knows all operands.
  unsigned passOf(Operation *inner) const {
    unsigned pass = 0;
    for (Value operand : inner->getOperands())
      pass = std::max(pass, stepOf(operand).pass);
    return pass;
  }

  bool isElement(Operation *inner) const {
    auto ofElements = [&](StringRef name) {
      return !fuse::findOperand(table, name).getScope().isUniform();
    };
    if (auto read = dyn_cast<fuse::ReadOp>(inner))
      return ofElements(read.getOperand());
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      return ofElements(write.getOperand());
    return llvm::any_of(inner->getOperands(), [&](Value value) { return stepOf(value).isElement; });
  }

  const Step &stepOf(Value value) const { return steps[places.lookup(value.getDefiningOp())]; }

  void noteAccess(Operation *inner) {
    if (auto read = dyn_cast<fuse::ReadOp>(inner))
      plan.reads[fuse::operandIndex(table, read.getOperand())] = true;
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      plan.writes[fuse::operandIndex(table, write.getOperand())] = true;
  }

  void formPasses() {
    for (const Step &step : steps)
      plan.passes.resize(std::max<size_t>(plan.passes.size(), step.pass + 1));
    plan.passes.resize(std::max<size_t>(plan.passes.size(), 1));
    std::vector<DenseSet<Operation *>> roots(plan.passes.size());
    for (const Step &step : steps) {
      if (auto reduce = dyn_cast<fuse::ReduceOp>(step.op)) {
        plan.passes[step.pass - 1].reductions.push_back(reductionOf(reduce));
        roots[step.pass - 1].insert(reduce.getValue().getDefiningOp());
      } else if (!step.isElement) {
        plan.passes[step.pass].uniform.push_back(step.action);
      } else if (isa<fuse::WriteOp>(step.op)) {
        roots.back().insert(step.op);
      }
    }
    for (size_t pass = 0; pass < roots.size(); ++pass)
      plan.passes[pass].element = actionsFor(std::move(roots[pass]));
  }

  Reduction<D> reductionOf(fuse::ReduceOp reduce) const {
    return {reduce.getKind(), reduce.getKeep().getLevel() == fuse::ScopeLevel::Tensor,
            typename D::Format(dtypeOf(reduce.getValue().getType())),
            numbers.lookup(reduce.getValue()), numbers.lookup(reduce.getResult())};
  }

  /// What elements compute for `needed`, in the order of the text.
  std::vector<Action<D>> actionsFor(DenseSet<Operation *> needed) const {
    std::vector<Action<D>> actions;
    for (const Step &step : llvm::reverse(steps)) {
      if (!step.isElement || !needed.contains(step.op))
        continue;
      actions.push_back(step.action);
      for (Value operand : step.op->getOperands())
        needed.insert(operand.getDefiningOp());
    }
    std::reverse(actions.begin(), actions.end());
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
  Plan<D> plan;
  DenseMap<Value, unsigned> numbers;
  std::vector<Step> steps;
  DenseMap<Operation *, size_t> places; ///< in `steps`
};

} // namespace

template <class D> Result<Plan<D>> plan(fuse::OpOp op) { return Planning<D>(op).run(); }

template Result<Plan<Bounds<double>>> plan(fuse::OpOp);
template Result<Plan<Bounds<long double>>> plan(fuse::OpOp);
template Result<Plan<Machine>> plan(fuse::OpOp);

std::vector<std::string_view> knownOperations() {
  std::vector<std::string_view> names = {kReduce};
  for (const OperationRow<Machine> &row : kOperations<Machine>)
    names.push_back(row.name);
  return names;
}

} // namespace fw::evaluator
