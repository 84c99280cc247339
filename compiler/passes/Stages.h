// How many kernels must have run before a value of an op can be computed.
#pragma once

#include "compiler/dialect/Fuse.h"

namespace fw::passes {

/// Whether a reduction ends a kernel: it keeps one value per tensor or fewer.
bool endsKernel(mlir::Operation *op);

/// The stages of an op. Kernel s reduces what `reductions(s)` lists; the kernel behind the last of
/// these stores the elements, all of them, so that kernels before it only read memory.
class StageAnalysis {
public:
  explicit StageAnalysis(fuse::OpOp op);

  /// Kernels that reduce; the number of the last stage.
  unsigned last() const { return unsigned(byStage.size()); }
  llvm::ArrayRef<fuse::ReduceOp> reductions(unsigned stage) const { return byStage[stage]; }

private:
  unsigned of(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, unsigned> stages; // looked up only
  llvm::SmallVector<llvm::SmallVector<fuse::ReduceOp>> byStage;
};

} // namespace fw::passes
