#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

#include <limits>

namespace fw::passes {
#define GEN_PASS_DEF_FEATUREGUARD
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureGuardPass : public impl::FeatureGuardBase<FeatureGuardPass> {
public:
  using FeatureGuardBase::FeatureGuardBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("guard");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    Location loc = op.getLoc();
    Value bad = firstBad(op, Gradients(op, namesOfRole(op, feature)));
    OpBuilder builder = atEnd(op);
    auto number = [&](double value) { return real(builder, value, builder.getF64Type()); };
    auto choose = [&](Value condition, Value then, Value otherwise) -> Value {
      return arith::SelectOp::create(builder, loc, condition, then, otherwise);
    };
    // From the weakest reason to the strongest; the last one is reported.
    Value skip = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                       scalarOf(builder, op, feature.scalar), number(0));
    Value report = choose(skip, number(-1), number(0));
    if (WriteOp norm = writeOf(op, findFeature("clip")->operand)) {
      Value isFinite = math::IsFiniteOp::create(builder, loc, norm.getValue());
      Value overflows = arith::XOrIOp::create(builder, loc, isFinite, truth(builder));
      report = choose(overflows, number(kInfinity), report);
      skip = arith::OrIOp::create(builder, loc, skip, overflows);
    }
    if (hasScalar(op, findFeature("unscale")->scalar)) {
      Value overflows = overflowsFactor(op, builder);
      report = choose(overflows, number(kInfinity), report);
      skip = arith::OrIOp::create(builder, loc, skip, overflows);
    }
    Value isBad =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, bad, number(kInfinity));
    report = choose(isBad, arith::AddFOp::create(builder, loc, bad, number(1)), report);
    skip = arith::OrIOp::create(builder, loc, skip, isBad);
    WriteOp::create(builder, loc, feature.operand, report);
    SkipIfOp::create(builder, loc, skip);
  }

private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  static Value truth(OpBuilder &builder) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(), builder.getBoolAttr(true));
  }

  /// Whether the factor that unscales is no finite number of f32: of a scale of 0, say.
  static Value overflowsFactor(OpOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Type f64 = builder.getF64Type(), f32 = builder.getF32Type();
    Value scale = scalarOf(builder, op, findFeature("unscale")->scalar);
    Value factor = arith::DivFOp::create(builder, loc, real(builder, 1, f64), scale);
    Value rounded =
        CastOp::create(builder, loc, f64, CastOp::create(builder, loc, f32, factor, false), false);
    Value isFinite = math::IsFiniteOp::create(builder, loc, rounded);
    return arith::XOrIOp::create(builder, loc, isFinite, truth(builder));
  }

  /// The number of the first tensor with a gradient that is not finite as it is stored, or inf.
  static Value firstBad(OpOp op, const Gradients &gradients) {
    OpBuilder builder = gradients.builder();
    Location loc = op.getLoc();
    Type f64 = builder.getF64Type();
    Value number = arith::SIToFPOp::create(builder, loc, f64, IndexOp::create(builder, loc));
    Value index = toElement(builder, op, number);
    Value none = real(builder, kInfinity, index.getType());
    Value bad;
    for (size_t k = 0; k < gradients.size(); ++k) {
      Value isFinite = math::IsFiniteOp::create(builder, loc, gradients.raw(k));
      Value found = arith::SelectOp::create(builder, loc, isFinite, none, index);
      bad = bad ? arith::MinimumFOp::create(builder, loc, bad, found) : found;
    }
    auto world = ScopeAttr::get(op.getContext(), ScopeLevel::World);
    Value first = ReduceOp::create(builder, loc, f64, ReduceKind::Min, world, bad);
    first.getDefiningOp()->setAttr(kName, builder.getStringAttr("first_bad"));
    return first;
  }
};

} // namespace
} // namespace fw::passes
