#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_PAIRREDUCTIONS
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

/// The reduction of `kind` that `value` is, of those that keep what `like` keeps.
ReduceOp reductionOf(Value value, ReduceKind kind, ReduceOp like) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == kind && reduce.getKeep() == like.getKeep() ? reduce
                                                                                  : ReduceOp();
}

/// The sum whose average is `value`: it is divided by the number of its terms.
ReduceOp sumOfAverage(Value value, ReduceOp like) {
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  if (!quotient || !quotient.getRhs().getDefiningOp<UniformOp>())
    return {};
  return reductionOf(quotient.getLhs(), ReduceKind::Sum, like);
}

/// sum((x - m)^2) -> the sum that m is the average of.
ReduceOp firstMoment(ReduceOp second) {
  auto square = second.getValue().getDefiningOp<arith::MulFOp>();
  if (!square || square.getLhs() != square.getRhs())
    return {};
  auto deviation = square.getLhs().getDefiningOp<arith::SubFOp>();
  ReduceOp first = deviation ? sumOfAverage(deviation.getRhs(), second) : ReduceOp();
  return first && first.getValue() == deviation.getLhs() ? first : ReduceOp();
}

/// What a select takes where the row has something: exp(s - t), beside a constant.
Value withoutGuard(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return value;
  bool isGuarded = select.getTrueValue().getDefiningOp<UniformOp>() ||
                   select.getTrueValue().getDefiningOp<arith::ConstantOp>();
  return isGuarded ? select.getFalseValue() : select.getTrueValue();
}

/// sum(exp(s - t)), also with a guard -> the maximum t of s.
ReduceOp maximumUnder(ReduceOp sum) {
  auto power = withoutGuard(sum.getValue()).getDefiningOp<math::ExpOp>();
  auto below = power ? power.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  ReduceOp most = below ? reductionOf(below.getRhs(), ReduceKind::Max, sum) : ReduceOp();
  return most && most.getValue() == below.getLhs() ? most : ReduceOp();
}

class PairReductionsPass : public impl::PairReductionsBase<PairReductionsPass> {
public:
  void runOnOperation() override {
    for (auto second : getOperation().getBody().getOps<ReduceOp>()) {
      if (second.getKeep().isUniform() || second.getKind() != ReduceKind::Sum)
        continue;
      if (ReduceOp first = firstMoment(second))
        pair(first, second, "moments");
      else if (ReduceOp most = maximumUnder(second))
        pair(most, second, "max_sum_exp");
    }
  }

private:
  /// A reduction is of one pair at most: the first that asks for it.
  void pair(ReduceOp first, ReduceOp second, StringRef name) {
    if (first->hasAttr(kPair) || second->hasAttr(kPair))
      return;
    auto attribute = StringAttr::get(&getContext(), name);
    first->setAttr(kPair, attribute);
    second->setAttr(kPair, attribute);
    ++numPairs;
  }
};

} // namespace
} // namespace fw::passes
