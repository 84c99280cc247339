#include "compiler/passes/Slice.h"

using namespace mlir;

namespace fw::passes {

llvm::SetVector<Operation *>
sliceOf(fuse::OpOp op, const llvm::DenseSet<Operation *> &roots,
        llvm::function_ref<bool(Operation &user, Value operand)> follows) {
  llvm::DenseSet<Operation *> needed;
  for (Operation &inner : llvm::reverse(op.getBody().front())) {
    if (!roots.contains(&inner) && !needed.contains(&inner))
      continue;
    needed.insert(&inner);
    for (Value operand : inner.getOperands())
      if (follows(inner, operand))
        needed.insert(operand.getDefiningOp());
  }
  llvm::SetVector<Operation *> slice;
  for (Operation &inner : op.getBody().front())
    if (needed.contains(&inner))
      slice.insert(&inner);
  return slice;
}

} // namespace fw::passes
