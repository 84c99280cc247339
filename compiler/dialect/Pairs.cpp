#include "compiler/dialect/Pairs.h"

using namespace mlir;

namespace fw::fuse {
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

/// sum((x - m)^2), where m is the average of x.
std::optional<Pair> moments(ReduceOp second) {
  auto square = second.getValue().getDefiningOp<arith::MulFOp>();
  if (!square || square.getLhs() != square.getRhs())
    return std::nullopt;
  auto deviation = square.getLhs().getDefiningOp<arith::SubFOp>();
  ReduceOp first = deviation ? sumOfAverage(deviation.getRhs(), second) : ReduceOp();
  if (!first || first.getValue() != deviation.getLhs())
    return std::nullopt;
  return Pair{Pair::Kind::Moments, first, deviation.getRhs()};
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

/// sum(exp(s - t)), also with a guard, where t is the maximum of s.
std::optional<Pair> maxSumExp(ReduceOp second) {
  auto power = withoutGuard(second.getValue()).getDefiningOp<math::ExpOp>();
  auto below = power ? power.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  ReduceOp most = below ? reductionOf(below.getRhs(), ReduceKind::Max, second) : ReduceOp();
  if (!most || most.getValue() != below.getLhs())
    return std::nullopt;
  const bool isFast = arith::bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn);
  return Pair{Pair::Kind::MaxSumExp, most, most.getResult(), isFast};
}

} // namespace

StringRef nameOf(Pair::Kind kind) {
  return kind == Pair::Kind::Moments ? "moments" : "max_sum_exp";
}

std::optional<Pair> pairOf(ReduceOp second) {
  if (second.getKeep().isUniform() || second.getKind() != ReduceKind::Sum)
    return std::nullopt;
  std::optional<Pair> pair = moments(second);
  return pair ? pair : maxSumExp(second);
}

} // namespace fw::fuse
