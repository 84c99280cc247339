#include "compiler/cpu/Lanes.h"

using namespace mlir;

namespace fw::cpu {

Type Lanes::type(Type element) const {
  return width == 1 ? element : VectorType::get({width}, element);
}

Value Lanes::constant(TypedAttr attribute) const {
  if (width == 1)
    return make<arith::ConstantOp>(attribute);
  auto vector = cast<ShapedType>(type(attribute.getType()));
  return make<arith::ConstantOp>(DenseElementsAttr::get(vector, Attribute(attribute)));
}

Value Lanes::number(Type element, double value) const {
  return constant(builder->getFloatAttr(element, value));
}

Value Lanes::integer(unsigned bits, uint64_t value) const {
  return constant(
      builder->getIntegerAttr(builder->getIntegerType(bits), APInt(bits, value, false, true)));
}

Value Lanes::splat(Value value) const {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return make<vector::BroadcastOp>(type(value.getType()), value);
}

Value Lanes::bits(Value value) const {
  return make<arith::BitcastOp>(
      integer(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth()), value);
}

Value Lanes::fromBits(Value value, Type element) const {
  return make<arith::BitcastOp>(type(element), value);
}

Value Lanes::resize(Value value, unsigned bits) const {
  unsigned now = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  if (now < bits)
    return make<arith::ExtUIOp>(integer(bits), value);
  return now > bits ? make<arith::TruncIOp>(integer(bits), value) : value;
}

} // namespace fw::cpu
