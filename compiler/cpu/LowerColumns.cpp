#include "compiler/cpu/KernelLowering.h"
#include "compiler/cpu/Random.h"

using namespace mlir;

namespace fw::cpu {

/// What follows from the columns that the lanes stand for; null for any other operation.
Value KernelLowering::ofColumn(Operation &op, const Lanes &lanes, Value index, int64_t shift) {
  if (isa<fuse::IndexOp>(op))
    return places(lanes, index, shift);
  if (auto load = dyn_cast<fuse::LoadPairOp>(op))
    return loadPartner(load, lanes, index, shift);
  if (auto pair = dyn_cast<fuse::PairIndexOp>(op))
    return partner(places(lanes, index, shift), lanes.splat(uniforms.lookup(pair.getCount())),
                   pair.getInterleaved(), lanes);
  auto bits = dyn_cast<fuse::BitsOp>(op);
  if (!bits)
    return {};
  Value number = lanes.make<arith::AddIOp>(lanes.splat(uniforms.lookup(bits.getFirst())),
                                           places(lanes, index, shift));
  return drawBits(lanes, uniforms.lookup(bits.getSeed()), number, uniforms.lookup(bits.getOffset()),
                  uint32_t(bits.getDraw()));
}

/// The other column of a pair among the first `count`; a column without one is its own.
Value KernelLowering::partner(Value place, Value count, bool interleaved, const Lanes &lanes) {
  Value one = lanes.integer(64, 1), columns = lanes.splat(end());
  Value most =
      lanes.make<arith::MinSIOp>(lanes.make<arith::MaxSIOp>(count, lanes.integer(64, 0)), columns);
  Value half = lanes.make<arith::ShRUIOp>(most, one);
  Value paired = lanes.make<arith::ShLIOp>(half, one);
  Value other;
  if (interleaved) {
    other = lanes.make<arith::XOrIOp>(place, one);
  } else {
    Value isFirst = lanes.compare(arith::CmpIPredicate::slt, place, half);
    other = lanes.select(isFirst, lanes.make<arith::AddIOp>(place, half),
                         lanes.make<arith::SubIOp>(place, half));
  }
  return lanes.select(lanes.compare(arith::CmpIPredicate::slt, place, paired), other, place);
}

/// Lane by lane: partners stand anywhere in the row.
Value KernelLowering::loadPartner(fuse::LoadPairOp op, const Lanes &lanes, Value index,
                                  int64_t shift) {
  Lanes scalar(builder, location, 1);
  Value count = uniforms.lookup(op.getCount()), gathered;
  for (int64_t lane = 0; lane < lanes.getWidth(); ++lane) {
    Value place = places(scalar, index, shift + lane);
    Value from = partner(place, count, op.getInterleaved(), scalar);
    Value word = load(scalar, op.getOperand(), op.getType(), from, 0);
    if (lanes.getWidth() == 1)
      return word;
    gathered = gathered ? lanes.make<vector::InsertOp>(word, gathered, lane)
                        : lanes.make<vector::BroadcastOp>(lanes.type(word.getType()), word);
  }
  return gathered;
}

} // namespace fw::cpu
