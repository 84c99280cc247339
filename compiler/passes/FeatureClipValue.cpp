#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATURECLIPVALUE
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureClipValuePass : public impl::FeatureClipValueBase<FeatureClipValuePass> {
public:
  using FeatureClipValueBase::FeatureClipValueBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("clip_value");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    Gradients gradients(op, namesOfRole(op, feature));
    OpBuilder builder = gradients.builder();
    Location loc = op.getLoc();
    Value scalar = scalarOf(builder, op, feature.scalar);
    Value most = toElement(builder, op, scalar);
    Value least = toElement(builder, op, arith::NegFOp::create(builder, loc, scalar));
    gradients.change(builder, [&](Value gradient) -> Value {
      return arith::MaximumFOp::create(builder, loc, gradient, least);
    });
    gradients.change(builder, [&](Value gradient) -> Value {
      return arith::MinimumFOp::create(builder, loc, gradient, most);
    });
  }
};

} // namespace
} // namespace fw::passes
