#include "compiler/passes/Stages.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {

bool endsKernel(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKeep().isUniform();
}

static llvm::DenseSet<Operation *> neededOf(OpOp op) {
  llvm::DenseSet<Operation *> needed;
  for (Operation &inner : llvm::reverse(op.getBody().front())) {
    if (inner.getNumResults() != 0 && !needed.contains(&inner))
      continue;
    needed.insert(&inner);
    for (Value operand : inner.getOperands())
      needed.insert(operand.getDefiningOp());
  }
  return needed;
}

StageAnalysis::StageAnalysis(OpOp op) {
  llvm::DenseSet<Operation *> needed = neededOf(op);
  for (Operation &inner : op.getBody().front()) {
    unsigned stage = of(&inner);
    if (endsKernel(&inner) && needed.contains(&inner)) {
      if (byStage.size() <= stage)
        byStage.resize(stage + 1);
      byStage[stage].push_back(cast<ReduceOp>(inner));
    }
    stages[&inner] = stage + (endsKernel(&inner) ? 1 : 0);
  }
}

unsigned StageAnalysis::of(Operation *op) const {
  unsigned stage = 0;
  for (Value operand : op->getOperands())
    stage = std::max(stage, stages.lookup(operand.getDefiningOp()));
  return stage;
}

} // namespace fw::passes
