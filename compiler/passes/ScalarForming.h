// One scalar program of the phase level, built from what kernels and operands ask of it.
#pragma once

#include "compiler/dialect/Fuse.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace fw::passes {

/// Names of the reductions that kernels hand over.
using ReductionNames = llvm::DenseMap<mlir::Value, std::string>;

/// A copy without its scope: at the phase level, where an operation stands says it.
mlir::Operation *clonePlaced(mlir::OpBuilder &builder, mlir::Operation *source,
                             mlir::IRMapping &mapping);

/// Builds the body of a `fuse.scalars` on demand: one operation for each value, one result for each
/// slot. Reductions are inputs, by name.
class ScalarForming {
public:
  ScalarForming(fuse::ScalarsOp scalars, mlir::ArrayAttr scalarTable,
                const ReductionNames &reductions);

  /// The name of the slot that holds `value` rounded to `type`.
  std::string slot(mlir::Location location, mlir::Value value, mlir::Type type);
  /// The new value of an operand that is written here.
  void write(fuse::WriteOp source);
  void skipIf(fuse::SkipIfOp source);

private:
  mlir::Value clone(mlir::Value value);
  mlir::Value cloneOperation(mlir::Value value);
  std::string nameFor(mlir::Operation *source);

  mlir::OpBuilder builder;
  const ReductionNames &reductions;
  mlir::IRMapping mapping;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, std::string> slots; ///< by value and rounding
  llvm::StringSet<> scalarNames, taken;
  unsigned unnamed = 0;
};

} // namespace fw::passes
