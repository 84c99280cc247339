// Where the rows of an entry stand as a GPU's records name it, and what decides which kernel serves
// it.
#pragma once

#include "runtime/launch/RowEntries.h"

namespace fw::launch {

/// What is known of the rows of an entry: the facts of facts.def.
struct RowFacts {
  int64_t columns = 0;
  bool isAligned = false;  ///< rows of what is streamed start on boundaries of 16 bytes
  bool isTogether = false; ///< they are off these by the same number of elements
  bool isWide = false;     ///< a row's number does not fit in 31 bits
  int64_t axes = 1;        ///< dimensions in front of the row

  auto operator<=>(const RowFacts &) const = default;
};

/// The rows of an entry on as few axes as have a stride in each operand. The axis `row` may take
/// several of them; an axis that is named is one.
struct RowGrid {
  Lengths sizes;                          ///< slowest first, at least one
  llvm::SmallVector<int64_t, 16> strides; ///< [operand][axis], in bytes

  RowFacts facts = {};

  std::span<const int64_t> stridesOf(size_t operand) const {
    return std::span<const int64_t>(strides).subspan(operand * sizes.size(), sizes.size());
  }
};

/// USAGE for more than 8 axes, and where two operands cut the axis `row` at places that have no
/// common divisor.
Result<RowGrid> gridOf(const Program &program, const RowEntry &entry);

} // namespace fw::launch
