// An op planned once, as closures over numbered values, and run in passes over all elements: each
// ends in reductions, the last one stores. The domain D says what a real and a bool are (Bounds<T>:
// intervals; Machine: IEEE numbers).
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/evaluator/Evaluator.h"

#include <functional>

namespace fw::evaluator {

/// The values of one tensor and of its current element, by number, and where they come from and go
/// to.
template <class D> struct Frame {
  std::vector<typename D::Real> reals;
  std::vector<typename D::Truth> truths;
  std::vector<double> ints; ///< whole numbers; beyond 2^53 rounded, as the scalar program does
  std::span<const double> scalars;
  std::vector<const double *> inputs;        ///< of the current tensor, by operand
  std::vector<typename D::Stored *> outputs; ///< of the current tensor, by operand
  size_t element = 0;
  size_t tensor = 0, tensorSize = 0, allSize = 0;
  typename D::Truth skip = D::decide(false); ///< whether the run writes nothing but reports
};

template <class D> using Action = std::function<void(Frame<D> &)>;

template <class D> struct Reduction {
  fuse::ReduceKind kind;
  bool keepsTensor;
  typename D::Format format; ///< of what is reduced
  unsigned from, to;         ///< value numbers
};

template <class D> struct Pass {
  std::vector<Action<D>> uniform; ///< once for each tensor, before any element
  std::vector<Action<D>> element; ///< what the reductions need, or the stores of the last pass
  std::vector<Reduction<D>> reductions;
};

template <class D> struct Plan {
  std::vector<Pass<D>> passes;
  unsigned values = 0;
  std::vector<bool> reads, writes; ///< by operand; what may keep its old value is read too
  std::vector<bool> guarded;       ///< by operand: what a skipped run leaves as it is
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
  bool isUniform(llvm::StringRef name) const {
    return fuse::findOperand(operands(), name).getScope().isUniform();
  }
  const Dtype &operandDtype(llvm::StringRef name) const {
    const llvm::StringRef dtype = fuse::findOperand(operands(), name).getDtype();
    return *findDtype({dtype.data(), dtype.size()});
  }
};

using fuse::dtypeOf;

/// Plans all of `op`, or refuses the first operation that has no row in the table (Operations.h).
template <class D> Result<Plan<D>> plan(fuse::OpOp op);

/// Runs a plan over all tensors (Run.cpp).
template <class D>
Outputs<typename D::Stored> run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs);

} // namespace fw::evaluator
