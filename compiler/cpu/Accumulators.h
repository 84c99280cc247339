// The reductions of a pass: what its loops carry, and how that becomes one number.
#pragma once

#include "compiler/cpu/Lanes.h"

namespace fw::cpu {

/// Every pass that reduces keeps this many bytes of accumulators per reduction, as however many
/// vectors the machine needs for them: element i goes to accumulator i mod their number, so sums
/// are the same for every vector width.
inline constexpr int64_t accumulatorBytes = 128;

/// One value per reduction.
using Accumulators = llvm::SmallVector<mlir::Value, 2>;

/// The numbers that a pass reduces to, before it has seen an element: 0, -inf or inf in all lanes.
Accumulators neutral(const Lanes &lanes, fuse::EachOp each);

/// a + b, or the larger or smaller; NaN stays NaN.
mlir::Value combine(const Lanes &lanes, fuse::ReduceKind kind, mlir::Value a, mlir::Value b);

/// The number of lanes of `vectors`, a power of two, is halved until one is left.
Accumulators fold(const Lanes &lanes, fuse::EachOp each, llvm::ArrayRef<Accumulators> vectors);

/// The kind of result `index` of a pass.
fuse::ReduceKind kindOf(fuse::EachOp each, unsigned index);

} // namespace fw::cpu
