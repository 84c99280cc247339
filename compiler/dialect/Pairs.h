// Two reductions of a row of which the second is made about what the first leaves.
#pragma once

#include "compiler/dialect/Fuse.h"

#include <optional>

namespace fw::fuse {

struct Pair {
  enum class Kind { Moments, MaxSumExp };
  Kind kind;
  ReduceOp first;
  mlir::Value about;   ///< the average, or the maximum
  bool isFast = false; ///< its exponentials may be the hardware's
};

/// How the attribute fuse.pair calls it.
llvm::StringRef nameOf(Pair::Kind kind);

/// The pair whose second reduction this is, of values that are computed once (after a CSE).
std::optional<Pair> pairOf(ReduceOp second);

} // namespace fw::fuse
