// What the passes of features share: the operands and scalars of their rows, and the values around
// the body.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/passes/FeatureTable.h"

#include "mlir/IR/Builders.h"

namespace fw::passes {

using Names = llvm::SmallVector<std::string, 2>;

/// Adds to `op` the operands and the scalar of `feature`'s row; `dtypes` ("name=dtype,...") may
/// bind those operands and no others. Refuses what the table refuses.
mlir::LogicalResult addRow(fuse::OpOp op, const Feature &feature, llvm::StringRef dtypes);

/// The operands of the feature's role, without those that features have added.
Names namesOfRole(fuse::OpOp op, const Feature &feature);

/// Behind everything in the body.
mlir::OpBuilder atEnd(fuse::OpOp op);

/// The value of scalar `name`; and whether the op has one, that is, the feature that adds it.
mlir::Value scalarOf(mlir::OpBuilder &builder, fuse::OpOp op, llvm::StringRef name);
bool hasScalar(fuse::OpOp op, llvm::StringRef name);

mlir::Value real(mlir::OpBuilder &builder, double value, mlir::Type type);

/// A value of the scalar program as elements use it.
mlir::Value toElement(mlir::OpBuilder &builder, fuse::OpOp op, mlir::Value value);

/// The write of operand `name`, or null.
fuse::WriteOp writeOf(fuse::OpOp op, llvm::StringRef name);

/// Stores the new value of `operand` (what it was, where the op does not write it) as `copy` too.
void writeCopy(fuse::OpOp op, llvm::StringRef operand, llvm::StringRef copy);

/// The gradients of an op before its equations: as they are stored, and as features have left them.
/// What a feature makes of a gradient carries its name, which no equation can give.
class Gradients {
public:
  /// Reads all of `names` at the beginning of the body.
  Gradients(fuse::OpOp op, const Names &names);

  size_t size() const { return stored.size(); }
  /// In element precision.
  mlir::Value raw(size_t k) const { return stored[k]; }

  /// Behind the values of all gradients, before their first use.
  mlir::OpBuilder builder() const;

  /// From here on the equations use change(g), built by `builder`, instead of each gradient g.
  void change(mlir::OpBuilder &builder, llvm::function_ref<mlir::Value(mlir::Value)> change);

private:
  fuse::OpOp op;
  Names names;
  llvm::SmallVector<mlir::Value, 2> stored, current;
};

} // namespace fw::passes
