// The `fuse` dialect: semantic and phase level (FuseDialect.td, FuseAttrs.td, FuseOps.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/FuseEnums.h.inc"

#include "compiler/dialect/FuseDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/FuseAttrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/FuseOps.h.inc"

namespace fw {
struct Dtype;
}

namespace fw::fuse {

/// Discardable attributes of this dialect (see the dialect's description).
inline constexpr llvm::StringLiteral kLabel = "fuse.label";
inline constexpr llvm::StringLiteral kName = "fuse.name";
inline constexpr llvm::StringLiteral kScope = "fuse.scope";
inline constexpr llvm::StringLiteral kPair = "fuse.pair";

/// The operand `name` in an operand table, or a null attribute.
OperandAttr findOperand(mlir::ArrayAttr operands, llvm::StringRef name);
/// The position of operand `name`; asserts that it is there.
unsigned operandIndex(mlir::ArrayAttr operands, llvm::StringRef name);

/// The scalar program right before `op` in a program.
ScalarsOp scalarsBefore(mlir::Operation *op);

/// The operands that a kernel loads or stores, in the order of its program's table: the columns of
/// its launches.
llvm::SmallVector<OperandAttr> columnsOf(KernelOp kernel);
/// The place of `name` in columnsOf.
unsigned columnIndex(KernelOp kernel, llvm::StringRef name);
/// The MLIR type in which a value of a storage dtype is loaded; null when unknown. Bools are i1 and
/// ints i64, whatever their width in memory.
mlir::Type storageType(mlir::MLIRContext *context, llvm::StringRef dtype);
/// The row of dtypes.def with that MLIR type and overflow mode: what a fuse.cast makes.
const Dtype &dtypeOf(mlir::Type type, bool saturate = false);

} // namespace fw::fuse
