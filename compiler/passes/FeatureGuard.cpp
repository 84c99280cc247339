#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Refusal.h"

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
    if (failed(addRow(op, feature, dtypes.getValue())) || failed(checkReport(op, feature)))
      return signalPassFailure();
    Location loc = op.getLoc();
    Value bad = firstBad(op, Gradients(op, namesOfRole(op, feature)));
    OpBuilder builder = atEnd(op);
    auto number = [&](double value) { return real(builder, value, builder.getF64Type()); };
    auto choose = [&](Value condition, Value then, Value otherwise) -> Value {
      return arith::SelectOp::create(builder, loc, condition, then, otherwise);
    };
    auto compare = [&](arith::CmpFPredicate predicate, Value a, double b) -> Value {
      return arith::CmpFOp::create(builder, loc, predicate, a, number(b));
    };
    // From the weakest reason to the strongest; the last one is reported.
    Value skip = compare(arith::CmpFPredicate::UNE, scalarOf(builder, op, feature.scalar), 0);
    Value report = choose(skip, number(kLeftOut), number(0));
    for (const Feature &other : allFeatures()) {
      if (&other == &feature || other.scalar.empty() || !hasScalar(op, other.scalar))
        continue;
      auto inside = other.open ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE;
      Value outside =
          negated(compare(inside, scalarOf(builder, op, other.scalar), other.low), builder);
      report = choose(outside, number(kBadScalar), report);
      skip = arith::OrIOp::create(builder, loc, skip, outside);
    }
    if (WriteOp norm = writeOf(op, findFeature("clip")->operand)) {
      Value overflows = negated(math::IsFiniteOp::create(builder, loc, norm.getValue()), builder);
      report = choose(overflows, number(kInfinity), report);
      skip = arith::OrIOp::create(builder, loc, skip, overflows);
    }
    if (hasScalar(op, findFeature("unscale")->scalar)) {
      Value overflows = overflowsFactor(op, builder);
      report = choose(overflows, number(kInfinity), report);
      skip = arith::OrIOp::create(builder, loc, skip, overflows);
    }
    // Other ranks have a say in this number, so it may be none: then the step is not applied
    // either.
    Value isBad = compare(arith::CmpFPredicate::UNE, bad, kInfinity);
    Value counted =
        choose(compare(arith::CmpFPredicate::OGE, bad, 0),
               arith::AddFOp::create(builder, loc, bad, number(1)), number(kBadExchange));
    report = choose(isBad, counted, report);
    skip = arith::OrIOp::create(builder, loc, skip, isBad);
    WriteOp::create(builder, loc, feature.operand, report);
    SkipIfOp::create(builder, loc, skip);
  }

private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Reports that are not of gradients; runtime/scaling/Messages.cpp tells them.
  static constexpr double kLeftOut = -1, kBadScalar = -2, kBadExchange = -3;

  /// Tensors are counted in it, and loss scalers read f32.
  static LogicalResult checkReport(OpOp op, const Feature &feature) {
    const std::string dtype =
        findOperand(op.getOperands(), feature.operand).getDtype().getValue().str();
    if (dtype == feature.dtype)
      return success();
    std::string name(feature.operand), only(feature.dtype);
    return refuse(op, {.code = Code::USAGE,
                       .text = name + ": expected dtype " + only + ", got " + dtype,
                       .remedy = "it tells the number of a tensor, which must be exact, and loss "
                                 "scalers read " +
                                 only + "; bind no other dtype to it"});
  }

  static Value negated(Value condition, OpBuilder &builder) {
    Value truth =
        arith::ConstantOp::create(builder, builder.getUnknownLoc(), builder.getBoolAttr(true));
    return arith::XOrIOp::create(builder, condition.getLoc(), condition, truth);
  }

  /// Whether the factor that unscales is no finite number of f32: of a scale of 0, say.
  static Value overflowsFactor(OpOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Type f64 = builder.getF64Type(), f32 = builder.getF32Type();
    Value scale = scalarOf(builder, op, findFeature("unscale")->scalar);
    Value factor = arith::DivFOp::create(builder, loc, real(builder, 1, f64), scale);
    Value rounded =
        CastOp::create(builder, loc, f64, CastOp::create(builder, loc, f32, factor, false), false);
    return negated(math::IsFiniteOp::create(builder, loc, rounded), builder);
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
