#include "compiler/cpu/Wholes.h"

using namespace mlir;

namespace fw::cpu {

using Compare = arith::CmpIPredicate;

Type wordOf(const Lanes &lanes, const IntDtype &dtype) {
  return lanes.getBuilder().getIntegerType(8 * dtype.bytes);
}

Value fromWord(const Lanes &lanes, const IntDtype &dtype, Value word) {
  if (dtype.isBool)
    return lanes.compare(Compare::ne, word, lanes.integer(8, 0));
  if (dtype.bytes == 8)
    return word;
  return dtype.isSigned ? lanes.make<arith::ExtSIOp>(lanes.integer(64), word)
                        : lanes.make<arith::ExtUIOp>(lanes.integer(64), word);
}

Value toWord(const Lanes &lanes, const IntDtype &dtype, Value value) {
  return lanes.resize(value, 8 * dtype.bytes);
}

/// Rounded down; the divisors that a machine traps on are taken out.
static Value quotient(const Lanes &lanes, Value a, Value b) {
  Value zero = lanes.integer(64, 0), one = lanes.integer(64, 1);
  Value isZero = lanes.compare(Compare::eq, b, zero);
  Value isMinus = lanes.compare(Compare::eq, b, lanes.integer(64, ~uint64_t(0)));
  Value safe = lanes.select(lanes.make<arith::OrIOp>(isZero, isMinus), one, b);
  Value towardsZero = lanes.make<arith::DivSIOp>(a, safe);
  Value rest = lanes.make<arith::SubIOp>(a, lanes.make<arith::MulIOp>(towardsZero, safe));
  Value differs = lanes.compare(Compare::slt, lanes.make<arith::XOrIOp>(rest, safe), zero);
  Value hasRest = lanes.compare(Compare::ne, rest, zero);
  Value down = lanes.make<arith::SubIOp>(towardsZero, one);
  Value floored = lanes.select(lanes.make<arith::AndIOp>(hasRest, differs), down, towardsZero);
  Value negated = lanes.make<arith::SubIOp>(zero, a);
  return lanes.select(isZero, zero, lanes.select(isMinus, negated, floored));
}

Value buildWholeOp(const Lanes &lanes, Operation &op, ValueRange x) {
  if (isa<fuse::IntDivOp>(op))
    return quotient(lanes, x[0], x[1]);
  if (isa<fuse::IntModOp>(op))
    return lanes.make<arith::SubIOp>(x[0],
                                     lanes.make<arith::MulIOp>(quotient(lanes, x[0], x[1]), x[1]));
  if (!isa<fuse::ShiftLeftOp, fuse::ShiftRightOp>(op))
    return {};
  const bool isLeft = isa<fuse::ShiftLeftOp>(op);
  Value most = lanes.integer(64, 63), zero = lanes.integer(64, 0);
  Value isBeyond = lanes.compare(Compare::ugt, x[1], most);
  Value count = lanes.select(isBeyond, isLeft ? zero : most, x[1]);
  if (isLeft)
    return lanes.select(isBeyond, zero, lanes.make<arith::ShLIOp>(x[0], count));
  return lanes.make<arith::ShRSIOp>(x[0], count);
}

} // namespace fw::cpu
