// Columns of a row that do not matter: where a select on a comparison of the column's number puts
// -inf under a maximum and a sum of exponentials, as causal and windowed attention do.
#pragma once

#include "compiler/dialect/RowPhases.h"

#include <optional>

namespace fw::fuse {

/// A number of a row: the sum of `terms`, each with its sign, and a constant.
struct RowLimit {
  llvm::SmallVector<std::pair<int, mlir::Value>> terms;
  int64_t constant = 0;
  bool operator==(const RowLimit &) const = default;
};

/// The columns that matter are [the largest of `first`, the smallest of `last`), within the row.
struct RowBounds {
  llvm::SmallVector<RowLimit> first, last;
  bool operator==(const RowBounds &) const = default;
};

/// Nothing where other columns may change what is reduced or stored: then they must be read.
std::optional<RowBounds> boundsOf(KernelOp kernel, const RowPhases &phases);

/// The comparison of a pass whose select sets the bounds.
mlir::Value boundingCondition(EachOp each);

} // namespace fw::fuse
