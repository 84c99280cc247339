// The precision that the elements of an op are computed in.
#pragma once

#include "compiler/dialect/Fuse.h"

namespace fw::passes {

/// f64 when a parameter is stored in f64 or, in an op without parameters, an input with a value per
/// element; else f32.
mlir::FloatType elementPrecision(mlir::MLIRContext *context, mlir::ArrayAttr operands);

/// `value` rounded once to `type`.
mlir::FloatAttr roundTo(mlir::FloatAttr value, mlir::FloatType type);

/// `value` converted by `fuse.cast` to the storage type of `operand` (with its overflow mode)
/// before `builder`'s place; `value` itself where nothing changes.
mlir::Value castToStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          fuse::OperandAttr operand);

/// The same for a value of any format that becomes one of `type`, which holds it exactly or rounds.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type,
                   bool saturate = false);

} // namespace fw::passes
