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

/// Refused until ops over rows and axes are evaluated.
constexpr std::string_view kRefused[] = {"fuse.reduce"};

template <class D> Planner<D> findPlanner(StringRef name) {
  for (const OperationRow<D> &row : kOperations<D>)
    if (name == StringRef(row.name.data(), row.name.size()))
      return row.planner;
  return nullptr;
}

Error unknownOperation(StringRef name, const char *detail = "") {
  if (llvm::is_contained(kRefused, std::string_view(name)))
    return {Code::USAGE, "expected an op without reductions, got '" + name.str() + "'",
            "reductions are not evaluated yet"};
  return {Code::INTERNAL,
          "expected an operation that the evaluator knows, got '" + name.str() + "'" + detail,
          "add its row to compiler/dialect/evaluator/Operations.h"};
}

bool dependsOnElement(Operation *op, const DenseSet<Operation *> &elementSide) {
  return isa<fuse::ReadOp, fuse::WriteOp>(op) || llvm::any_of(op->getOperands(), [&](Value value) {
           return elementSide.contains(value.getDefiningOp());
         });
}

void noteAccess(Operation *op, ArrayAttr operands, std::vector<bool> &reads,
                std::vector<bool> &writes) {
  if (auto read = dyn_cast<fuse::ReadOp>(op))
    reads[fuse::operandIndex(operands, read.getOperand())] = true;
  if (auto write = dyn_cast<fuse::WriteOp>(op))
    writes[fuse::operandIndex(operands, write.getOperand())] = true;
}

} // namespace

template <class D> Result<Plan<D>> plan(fuse::OpOp op) {
  Plan<D> plan;
  plan.reads.resize(op.getOperands().size());
  plan.writes.resize(op.getOperands().size());
  DenseMap<Value, unsigned> numbers;
  DenseSet<Operation *> elementSide;
  for (Operation &inner : op.getBody().front()) {
    for (Value result : inner.getResults())
      numbers[result] = plan.values++;
    Planner<D> planner = findPlanner<D>(inner.getName().getStringRef());
    if (!planner)
      return unknownOperation(inner.getName().getStringRef());
    Action<D> action = planner(Site{&inner, numbers});
    if (!action)
      return unknownOperation(inner.getName().getStringRef(), " of these types");
    const bool isElement = dependsOnElement(&inner, elementSide);
    if (isElement)
      elementSide.insert(&inner);
    (isElement ? plan.element : plan.uniform).push_back(std::move(action));
    noteAccess(&inner, op.getOperands(), plan.reads, plan.writes);
  }
  return plan;
}

template <class D>
static Outputs<typename D::Stored> emptyOutputs(const Plan<D> &plan, fuse::OpOp op,
                                                const Inputs &inputs) {
  Outputs<typename D::Stored> outputs;
  for (auto [k, operand] : llvm::enumerate(op.getOperands().getAsRange<fuse::OperandAttr>())) {
    if (!plan.writes[k])
      continue;
    auto &output = outputs.operands.emplace_back();
    output.operand = operand.getName().str();
    output.dtype = operand.getDtype().str();
    for (size_t size : inputs.sizes)
      output.tensors.emplace_back(size);
  }
  return outputs;
}

template <class D>
static void pointAt(size_t tensor, const Plan<D> &plan, const Inputs &inputs,
                    Outputs<typename D::Stored> &outputs, Frame<D> &frame) {
  size_t written = 0;
  for (size_t k = 0; k < plan.reads.size(); ++k) {
    frame.inputs[k] = plan.reads[k] ? inputs.data[k][tensor].data() : nullptr;
    frame.outputs[k] =
        plan.writes[k] ? outputs.operands[written++].tensors[tensor].data() : nullptr;
  }
  frame.scalars = inputs.scalars[inputs.scalars.size() == 1 ? 0 : tensor];
}

template <class D>
Outputs<typename D::Stored> run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs) {
  Outputs<typename D::Stored> outputs = emptyOutputs(plan, op, inputs);
  Frame<D> frame;
  frame.reals.resize(plan.values);
  frame.truths.resize(plan.values);
  frame.ints.resize(plan.values);
  frame.inputs.resize(plan.reads.size());
  frame.outputs.resize(plan.reads.size());
  for (size_t tensor = 0; tensor < inputs.sizes.size(); ++tensor) {
    pointAt(tensor, plan, inputs, outputs, frame);
    for (const Action<D> &action : plan.uniform)
      action(frame);
    for (frame.element = 0; frame.element < inputs.sizes[tensor]; ++frame.element)
      for (const Action<D> &action : plan.element)
        action(frame);
  }
  return outputs;
}

template Result<Plan<Bounds<double>>> plan(fuse::OpOp);
template Result<Plan<Bounds<long double>>> plan(fuse::OpOp);
template Result<Plan<Machine>> plan(fuse::OpOp);
template Evaluation run(const Plan<Bounds<double>> &, fuse::OpOp, const Inputs &);
template Evaluation run(const Plan<Bounds<long double>> &, fuse::OpOp, const Inputs &);
template Bits run(const Plan<Machine> &, fuse::OpOp, const Inputs &);

std::vector<std::string_view> knownOperations() {
  std::vector<std::string_view> names;
  for (const OperationRow<Machine> &row : kOperations<Machine>)
    names.push_back(row.name);
  return names;
}

std::vector<std::string_view> refusedOperations() {
  return {std::begin(kRefused), std::end(kRefused)};
}

} // namespace fw::evaluator
