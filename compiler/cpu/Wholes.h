// Bools and ints in lanes: i1 and i64, whatever their width in memory.
#pragma once

#include "compiler/cpu/Lanes.h"
#include "compiler/dialect/Dtypes.h"

namespace fw::cpu {

/// The integer of memory that holds an element of `dtype`.
mlir::Type wordOf(const Lanes &lanes, const IntDtype &dtype);
/// What loaded words stand for, i1 or i64, and the words of values.
mlir::Value fromWord(const Lanes &lanes, const IntDtype &dtype, mlir::Value word);
mlir::Value toWord(const Lanes &lanes, const IntDtype &dtype, mlir::Value value);

/// A quotient, remainder or shift of the dialect; null for any other operation.
mlir::Value buildWholeOp(const Lanes &lanes, mlir::Operation &op, mlir::ValueRange operands);

} // namespace fw::cpu
