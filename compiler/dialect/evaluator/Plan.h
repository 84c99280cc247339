// An op planned once, as closures over numbered values, and run for each element. The domain D says
// what a real and a bool are (Bounds<T>: intervals; Machine: IEEE numbers).
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/evaluator/Evaluator.h"

#include <functional>

namespace fw::evaluator {

/// The values of one element, by number, and where the element comes from and goes to.
template <class D> struct Frame {
  std::vector<typename D::Real> reals;
  std::vector<typename D::Truth> truths;
  std::vector<int64_t> ints;
  std::span<const double> scalars;
  std::vector<const double *> inputs;        ///< of the current tensor, by operand
  std::vector<typename D::Stored *> outputs; ///< of the current tensor, by operand
  size_t element = 0;
};

template <class D> using Action = std::function<void(Frame<D> &)>;

template <class D> struct Plan {
  std::vector<Action<D>> uniform; ///< once for each row of scalars: no read among what it uses
  std::vector<Action<D>> element;
  unsigned values = 0;
  std::vector<bool> reads, writes; ///< by operand
};

/// One operation while it is planned.
struct Site {
  mlir::Operation *op;
  const llvm::DenseMap<mlir::Value, unsigned> &numbers;

  unsigned result() const { return numbers.lookup(op->getResult(0)); }
  unsigned operand(unsigned i) const { return numbers.lookup(op->getOperand(i)); }
  mlir::Type type() const { return op->getResult(0).getType(); }
  mlir::ArrayAttr operands() const { return op->getParentOfType<fuse::OpOp>().getOperands(); }
  mlir::ArrayAttr scalars() const { return op->getParentOfType<fuse::OpOp>().getScalars(); }
  unsigned operandNumber(llvm::StringRef name) const {
    return fuse::operandIndex(operands(), name);
  }
  const Dtype &operandDtype(llvm::StringRef name) const {
    const llvm::StringRef dtype = fuse::findOperand(operands(), name).getDtype();
    return *findDtype({dtype.data(), dtype.size()});
  }
};

using fuse::dtypeOf;

/// Plans all of `op`, or refuses the first operation that has no row in the table (Operations.h).
template <class D> Result<Plan<D>> plan(fuse::OpOp op);

/// Runs a plan over all tensors.
template <class D>
Outputs<typename D::Stored> run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs);

} // namespace fw::evaluator
