#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATUREUNSCALE
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureUnscalePass : public impl::FeatureUnscaleBase<FeatureUnscalePass> {
public:
  using FeatureUnscaleBase::FeatureUnscaleBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("unscale");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    Gradients gradients(op, namesOfRole(op, feature));
    OpBuilder builder = gradients.builder();
    Location loc = op.getLoc();
    Value scale = scalarOf(builder, op, feature.scalar);
    Value inverse =
        arith::DivFOp::create(builder, loc, real(builder, 1, builder.getF64Type()), scale);
    Value factor = toElement(builder, op, inverse);
    gradients.change(builder, [&](Value gradient) -> Value {
      return arith::MulFOp::create(builder, loc, gradient, factor);
    });
  }
};

} // namespace
} // namespace fw::passes
