// The evaluator: what a fuse.op of the semantic level computes, for given data. It is the oracle of
// every numeric test; an op file needs no second implementation to be tested against.
//
//   evaluate    values in higher precision, each with the bound that a kernel that works stays in
//   interpret   the exact storage words of kernels, from a module after the pass `fma`
//
// Both take an op after specialise and features (dtypes are final). A sum is bounded for every
// order of a backend that adds at most 65536 elements of one tensor, or of what is kept, in element
// precision, each through at most 2112 roundings (4160 of f64), and those partials in f64
// (Reducer.h); its bits are not interpreted. The world is one process.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw::fuse {
class OpOp;
}

namespace fw::evaluator {

/// Host data of an evaluation: a list of flat tensors for each operand.
struct Inputs {
  /// Elements of each tensor; all operands with a value per element have the same. Empty for an op
  /// over scalars.
  std::vector<size_t> sizes;
  /// Of an op over axes, instead: for each tensor how long each axis of axesOf(op) is.
  std::vector<std::vector<size_t>> extents = {};
  /// [operand, in the op's order][tensor], decoded from storage. An operand with a value per tensor
  /// has one element in each, one with a value in all has one tensor of one element. An operand
  /// that the op does not read may have no tensors, unless a skipped run would leave it as it is.
  std::vector<std::vector<std::span<const double>>> data;
  /// Rows of scalars in the op's order; ints and bools are whole numbers and 0 or 1. One row serves
  /// all tensors, else there is one for each.
  std::vector<std::vector<double>> scalars;
};

/// What one stored element may be: in [lo, hi], or NaN where `nan`. NaN alone has lo = hi = NaN.
struct Bound {
  double value; ///< of the equations, before it is rounded for storage
  double
      bound; ///< no element in [lo, hi] is farther from value: all errors, half an ulp of storage
  double lo, hi;
  bool nan;
};

/// One written operand.
template <class Element> struct Output {
  std::string operand;
  std::string dtype;
  std::vector<std::vector<Element>> tensors;
};
/// All written operands, in the op's order.
template <class Element> struct Outputs {
  std::vector<Output<Element>> operands;
  /// The output called `name`, or null.
  const Output<Element> *find(std::string_view name) const {
    for (const Output<Element> &output : operands)
      if (output.operand == name)
        return &output;
    return nullptr;
  }
};
using Evaluation = Outputs<Bound>;
using Bits = Outputs<uint64_t>;

/// The axes of an op: those of its header, then those that operands have of their own, in the order
/// of the operands. None of an op over elements or scalars.
std::vector<std::string> axesOf(fuse::OpOp op);

Result<Evaluation> evaluate(fuse::OpOp op, const Inputs &inputs);
Result<Bits> interpret(fuse::OpOp op, const Inputs &inputs);

/// Names of the operations that the modes know.
std::vector<std::string_view> knownOperations();

} // namespace fw::evaluator
