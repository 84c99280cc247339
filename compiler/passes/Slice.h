// The part of an op's body that some of its operations need: what a phase is made of.
#pragma once

#include "compiler/dialect/Fuse.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace fw::passes {

/// The roots and what they need, in the order of the body. An operation's operand is followed where
/// `follows` says so.
llvm::SetVector<mlir::Operation *>
sliceOf(fuse::OpOp op, const llvm::DenseSet<mlir::Operation *> &roots,
        llvm::function_ref<bool(mlir::Operation &user, mlir::Value operand)> follows);

} // namespace fw::passes
