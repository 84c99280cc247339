#include "compiler/dialect/evaluator/Evaluator.h"

#include "compiler/dialect/evaluator/Bounds.h"
#include "compiler/dialect/evaluator/Machine.h"
#include "compiler/dialect/evaluator/Plan.h"

using namespace mlir;

namespace fw::evaluator {
namespace {

Error mismatch(std::string expected, std::string got) {
  return {Code::USAGE, "expected " + expected + ", got " + got,
          "pass data for every operand that the op reads, in the op's order"};
}

std::string count(size_t n, const char *what) { return std::to_string(n) + " " + what; }

/// How many elements operand `k` has in each of its tensors.
std::vector<size_t> sizesOf(fuse::OpOp op, size_t k, const Inputs &inputs) {
  auto operand = cast<fuse::OperandAttr>(op.getOperands()[k]);
  const size_t tensors = std::max(inputs.sizes.size(), inputs.extents.size());
  if (operand.getScope().getLevel() == fuse::ScopeLevel::All)
    return {1};
  if (operand.getScope().isUniform())
    return std::vector<size_t>(tensors, 1);
  if (!op.getDomain().hasAxes())
    return inputs.sizes;
  const Axes axes = operandAxes(op)[k];
  std::vector<size_t> sizes;
  for (const std::vector<size_t> &extents : inputs.extents) {
    sizes.push_back(1);
    for (unsigned axis : axes)
      sizes.back() *= extents[axis];
  }
  return sizes;
}

/// Whether the shape of every tensor is known: the axes' lengths, or the number of elements.
Result<void> checkExtents(fuse::OpOp op, const Inputs &inputs) {
  const size_t axes = axesOf(op).size();
  if (axes && !inputs.sizes.empty())
    return mismatch("lengths of the axes of each tensor", "sizes");
  if (!axes && !inputs.extents.empty())
    return mismatch("sizes of an op without axes", "lengths of axes");
  for (const std::vector<size_t> &extents : inputs.extents)
    if (extents.size() != axes)
      return mismatch(count(axes, "lengths of axes"), std::to_string(extents.size()));
  return {};
}

Result<void> checkTensors(StringRef operand, const std::vector<std::span<const double>> &tensors,
                          const std::vector<size_t> &sizes) {
  const std::string where = " of operand '" + operand.str() + "'";
  if (tensors.size() != sizes.size())
    return mismatch(count(sizes.size(), "tensors") + where, std::to_string(tensors.size()));
  for (size_t i = 0; i < sizes.size(); ++i)
    if (tensors[i].size() != sizes[i])
      return mismatch(count(sizes[i], "elements") + " in tensor " + std::to_string(i) + where,
                      std::to_string(tensors[i].size()));
  return {};
}

Result<void> checkScalars(fuse::OpOp op, const Inputs &inputs) {
  const size_t rows = inputs.scalars.size();
  const size_t tensors = std::max(inputs.sizes.size(), inputs.extents.size());
  if (rows != 1 && (rows == 0 || rows != tensors))
    return mismatch("1 row of scalars or one for each of " + count(tensors, "tensors"),
                    count(rows, "rows"));
  for (const std::vector<double> &row : inputs.scalars)
    if (row.size() != op.getScalars().size())
      return mismatch(count(op.getScalars().size(), "scalars") + " in a row",
                      std::to_string(row.size()));
  return {};
}

Result<void> check(fuse::OpOp op, const std::vector<bool> &reads, const Inputs &inputs) {
  if (auto checked = checkExtents(op, inputs); !checked)
    return checked;
  if (inputs.data.size() != op.getOperands().size())
    return mismatch("data for " + count(op.getOperands().size(), "operands"),
                    std::to_string(inputs.data.size()));
  for (auto [k, operand] : llvm::enumerate(op.getOperands().getAsRange<fuse::OperandAttr>()))
    if (reads[k])
      if (auto checked = checkTensors(operand.getName(), inputs.data[k], sizesOf(op, k, inputs));
          !checked)
        return checked;
  return checkScalars(op, inputs);
}

template <class D>
Result<Outputs<typename D::Stored>> planAndRun(fuse::OpOp op, const Inputs &inputs) {
  Result<Plan<D>> planned = plan<D>(op);
  if (!planned)
    return planned.takeError();
  if (auto checked = check(op, planned->reads, inputs); !checked)
    return checked.takeError();
  return run(*planned, op, inputs);
}

/// Whether elements are computed in f64, or there is nothing but the scalar program.
bool isDouble(fuse::OpOp op) {
  auto isElement = [&](StringRef operand) {
    return !fuse::findOperand(op.getOperands(), operand).getScope().isUniform();
  };
  return op.getDomain().isScalars() || llvm::any_of(op.getBody().front(), [&](Operation &inner) {
           if (auto write = dyn_cast<fuse::WriteOp>(inner))
             return isElement(write.getOperand()) && write.getValue().getType().isF64();
           auto read = dyn_cast<fuse::ReadOp>(inner);
           return read && isElement(read.getOperand()) && read.getType().isF64();
         });
}

} // namespace

std::vector<std::string> axesOf(fuse::OpOp op) {
  std::vector<std::string> names;
  for (StringAttr axis : op.getDomain().axes())
    names.push_back(axis.str());
  for (auto operand : op.getOperands().getAsRange<fuse::OperandAttr>())
    if (ArrayAttr own = operand.getScope().getAxes())
      for (auto axis : own.getAsRange<StringAttr>())
        if (!llvm::is_contained(names, axis.str()))
          names.push_back(axis.str());
  return names;
}

Result<Evaluation> evaluate(fuse::OpOp op, const Inputs &inputs) {
  return isDouble(op) ? planAndRun<Bounds<long double>>(op, inputs)
                      : planAndRun<Bounds<double>>(op, inputs);
}

Result<Bits> interpret(fuse::OpOp op, const Inputs &inputs) {
  return planAndRun<Machine>(op, inputs);
}

} // namespace fw::evaluator
