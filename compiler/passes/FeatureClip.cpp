#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATURECLIP
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureClipPass : public impl::FeatureClipBase<FeatureClipPass> {
public:
  using FeatureClipBase::FeatureClipBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("clip");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    Gradients gradients(op, namesOfRole(op, feature));
    OpBuilder builder = gradients.builder();
    Location loc = op.getLoc();
    Value norm = normOf(op, gradients, builder);
    WriteOp::create(builder, loc, feature.operand, norm);
    // The offset is that of torch.nn.utils.clip_grad_norm_.
    Type f64 = builder.getF64Type();
    Value offset = arith::AddFOp::create(builder, loc, norm, real(builder, 1e-6, f64));
    Value ratio =
        arith::DivFOp::create(builder, loc, scalarOf(builder, op, feature.scalar), offset);
    Value factor = toElement(builder, op,
                             arith::MinimumFOp::create(builder, loc, ratio, real(builder, 1, f64)));
    gradients.change(builder, [&](Value gradient) -> Value {
      return arith::MulFOp::create(builder, loc, gradient, factor);
    });
  }

private:
  /// Of the gradients as the feature `unscale` leaves them, from the stored ones: so the kernel
  /// that sums needs no scale, which may be known on the device alone.
  static Value normOf(OpOp op, const Gradients &gradients, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value squares;
    for (size_t k = 0; k < gradients.size(); ++k) {
      Value square = arith::MulFOp::create(builder, loc, gradients.raw(k), gradients.raw(k));
      squares = squares ? arith::AddFOp::create(builder, loc, squares, square) : square;
    }
    auto world = ScopeAttr::get(op.getContext(), ScopeLevel::World);
    Value sum =
        ReduceOp::create(builder, loc, builder.getF64Type(), ReduceKind::Sum, world, squares);
    sum.getDefiningOp()->setAttr(kName, builder.getStringAttr("norm2"));
    Value norm = math::SqrtOp::create(builder, loc, sum);
    const Feature &unscale = *findFeature("unscale");
    if (hasScalar(op, unscale.scalar))
      norm = arith::DivFOp::create(builder, loc, norm, scalarOf(builder, op, unscale.scalar));
    return norm;
  }
};

} // namespace
} // namespace fw::passes
