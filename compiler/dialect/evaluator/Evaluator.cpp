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

/// The elements that an operand of `scope` has in each of its tensors.
std::vector<size_t> sizesOf(fuse::ScopeAttr scope, const std::vector<size_t> &sizes) {
  if (scope.getLevel() == fuse::ScopeLevel::All)
    return {1};
  return scope.isUniform() ? std::vector<size_t>(sizes.size(), 1) : sizes;
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
  const size_t rows = inputs.scalars.size(), tensors = inputs.sizes.size();
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
  if (!op.getDomain().isElements() && !op.getDomain().isScalars())
    return Error{Code::USAGE, "expected an op over elements or scalars, got an op over axes",
                 "ops over rows and axes are not evaluated yet"};
  if (inputs.data.size() != op.getOperands().size())
    return mismatch("data for " + count(op.getOperands().size(), "operands"),
                    std::to_string(inputs.data.size()));
  for (auto [k, operand] : llvm::enumerate(op.getOperands().getAsRange<fuse::OperandAttr>()))
    if (reads[k])
      if (auto checked = checkTensors(operand.getName(), inputs.data[k],
                                      sizesOf(operand.getScope(), inputs.sizes));
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

Result<Evaluation> evaluate(fuse::OpOp op, const Inputs &inputs) {
  return isDouble(op) ? planAndRun<Bounds<long double>>(op, inputs)
                      : planAndRun<Bounds<double>>(op, inputs);
}

Result<Bits> interpret(fuse::OpOp op, const Inputs &inputs) {
  return planAndRun<Machine>(op, inputs);
}

} // namespace fw::evaluator
