#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Precision.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATUREZEROGRAD
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureZeroGradPass : public impl::FeatureZeroGradBase<FeatureZeroGradPass> {
public:
  using FeatureZeroGradBase::FeatureZeroGradBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("zero_grad");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    for (const std::string &gradient : namesOfRole(op, feature)) {
      OpBuilder builder = atEnd(op);
      FloatType precision = elementPrecision(op.getContext(), op.getOperands());
      WriteOp::create(builder, op.getLoc(), gradient, real(builder, 0, precision));
    }
  }
};

} // namespace
} // namespace fw::passes
