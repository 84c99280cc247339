// An op planned once, as closures over numbered values, and run in passes over all places: each
// ends in reductions and in values that others read at other places, the last one stores. The
// domain D says what a real and a bool are (Bounds<T>: intervals; Machine: IEEE numbers).
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/evaluator/Evaluator.h"

#include <functional>

namespace fw::evaluator {

/// Numbers of axes, slowest first. An op over elements has one, without a name.
using Axes = std::vector<unsigned>;

/// The values of one tensor and of its current place, by number, and where they come from and go
/// to.
template <class D> struct Frame {
  std::vector<typename D::Real> reals;
  std::vector<typename D::Truth> truths;
  std::vector<double> ints;    ///< of the scalar program; beyond 2^53 rounded, as that does
  std::vector<int64_t> wholes; ///< of elements; they wrap
  std::span<const double> scalars;
  std::vector<const double *> inputs;              ///< of the current tensor, by operand
  std::vector<typename D::Stored *> outputs;       ///< of the current tensor, by operand
  std::vector<size_t> index, extents;              ///< by axis
  std::vector<std::vector<typename D::Real>> kept; ///< of earlier passes, by slot
  size_t tensor = 0, tensorSize = 0, allSize = 0;
  typename D::Truth skip = D::decide(false); ///< whether the run writes nothing but reports

  /// The number of the current place among those on `axes`.
  size_t placeOn(const Axes &axes) const {
    size_t place = 0;
    for (unsigned axis : axes)
      place = place * extents[axis] + index[axis];
    return place;
  }
  size_t placesOn(const Axes &axes) const {
    size_t places = 1;
    for (unsigned axis : axes)
      places *= extents[axis];
    return places;
  }
};

template <class D> using Action = std::function<void(Frame<D> &)>;

/// A sum that kernels may make about other references than the text says (Reducer.h).
struct PairedSum {
  enum class Kind { None, Moments, Exponentials };
  Kind kind = Kind::None;
  unsigned about = 0;  ///< of moments: the value number of the mean
  bool isFast = false; ///< the hardware's exponentials
};

template <class D> struct Reduction {
  enum class Keeps { Axes, Tensor, All };
  fuse::ReduceKind kind;
  Keeps keeps;
  typename D::Format format; ///< of what is reduced
  unsigned from, to;         ///< value numbers
  Axes axes;                 ///< that are kept
  unsigned slot;             ///< of what keeps axes
  PairedSum pair;
};

/// A value that a later pass reads at other places.
struct Keep {
  unsigned from, slot;
  Axes axes;
};

/// A loop over the places on some axes. Values that do not vary with the last axes are computed
/// once for all places on these: `actions[d]` when one of the first d axes has moved.
template <class D> struct Loop {
  Axes axes;
  std::vector<std::vector<Action<D>>> actions;
  std::vector<Reduction<D>> reductions;
  std::vector<Keep> keeps;
};

template <class D> struct Pass {
  std::vector<Action<D>> uniform; ///< once for each tensor, before any element
  std::vector<Loop<D>> loops;
};

template <class D> struct Plan {
  std::vector<Pass<D>> passes;
  unsigned values = 0, slots = 0, axes = 0;
  std::vector<bool> reads, writes; ///< by operand; what may keep its old value is read too
  std::vector<bool> guarded;       ///< by operand: what a skipped run leaves as it is
};

/// The axes of each operand, numbered as axesOf(op) lists them; none of one value.
std::vector<Axes> operandAxes(fuse::OpOp op);

/// One operation while it is planned.
struct Site {
  mlir::Operation *op;
  const llvm::DenseMap<mlir::Value, unsigned> &numbers;
  const std::vector<Axes> &axes;             ///< by operand
  const std::vector<std::string> &axisNames; ///< of the op
  unsigned headerAxes;                       ///< of these, in the header
  bool isElementSide;                        ///< whether ints are those of elements

  unsigned result() const { return numbers.lookup(op->getResult(0)); }
  unsigned operand(unsigned i) const { return numbers.lookup(op->getOperand(i)); }
  mlir::Type type() const { return op->getResult(0).getType(); }
  mlir::ArrayAttr operands() const { return op->getParentOfType<fuse::OpOp>().getOperands(); }
  mlir::ArrayAttr scalars() const { return op->getParentOfType<fuse::OpOp>().getScalars(); }
  unsigned operandNumber(llvm::StringRef name) const {
    return fuse::operandIndex(operands(), name);
  }
  const Axes &axesOfOperand(llvm::StringRef name) const { return axes[operandNumber(name)]; }
  unsigned axisNumber(llvm::StringRef name) const {
    return unsigned(llvm::find(axisNames, name) - axisNames.begin());
  }
  llvm::StringRef dtypeName(llvm::StringRef name) const {
    return fuse::findOperand(operands(), name).getDtype();
  }
  const Dtype &operandDtype(llvm::StringRef name) const {
    const llvm::StringRef dtype = dtypeName(name);
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
