#include "compiler/cpu/Codec.h"

#include "compiler/cpu/Traced.h"
#include "templates/vocab/narrow.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace fw::cpu {

namespace {

bool isNarrow(Type storage) { return storage.getIntOrFloatBitWidth() < 32; }

/// Calls `body` with the format tag of narrow.h for a narrow storage type.
template <class Body> Value withFormat(Type storage, bool saturate, Body body) {
  if (storage.isBF16())
    return body(math::Bf16Format{});
  if (storage.isF16())
    return body(math::F16Format{});
  if (isa<Float8E4M3FNType>(storage))
    return saturate ? body(math::E4m3fnSatFormat{}) : body(math::E4m3fnFormat{});
  assert(isa<Float8E5M2Type>(storage) && "a storage type of the dialect");
  return saturate ? body(math::E5m2SatFormat{}) : body(math::E5m2Format{});
}

/// Narrow code -> f32, exact.
Value widen(const Lanes &lanes, Value code, Type storage) {
  return withFormat(storage, false, [&](auto format) {
    TracedInt<false> word{&lanes, lanes.resize(code, 32)};
    return math::decodeNarrow<decltype(format)>(word).value;
  });
}

/// f32 -> f16 by the hardware, which differs from narrow.h in the code of NaN alone.
Value narrowF16(const Lanes &lanes, Value x) {
  Value half = lanes.make<arith::TruncFOp>(lanes.type(lanes.getBuilder().getF16Type()), x);
  Value isNan = lanes.compare(CmpFPredicate::UNO, x, x);
  return lanes.select(isNan, lanes.integer(16, math::F16Format::NAN_CODE), lanes.bits(half));
}

/// f32 -> narrow code, one rounding to nearest even.
Value narrow(const Lanes &lanes, const Features &features, Value x, Type storage, bool saturate) {
  if (storage.isF16() && features.hasHalfConversion())
    return narrowF16(lanes, x);
  return withFormat(storage, saturate, [&](auto format) {
    auto code = math::encodeNarrow<decltype(format)>(TracedFloat{&lanes, x});
    return lanes.resize(code.value, storage.getIntOrFloatBitWidth());
  });
}

/// roundToOdd of narrow.h: f64 -> f32 truncated, with the last bit set where anything was lost, so
/// that the rounding after it is the only one.
Value roundToOdd(const Lanes &lanes, Value x) {
  Type f32 = lanes.getBuilder().getF32Type();
  Value nearest = lanes.make<arith::TruncFOp>(lanes.type(f32), x);
  Value back = lanes.make<arith::ExtFOp>(x.getType(), nearest);
  TracedInt<false> word = bits(TracedFloat{&lanes, nearest});
  TracedDouble wide{&lanes, x}, rounded{&lanes, back};
  TracedInt<false> truncated = select(abs(rounded) > abs(wide), word - 1, word);
  TracedMask lost{&lanes, lanes.compare(CmpFPredicate::ONE, back, x)};
  return fromBits(select(lost, truncated | 1, word)).value;
}

} // namespace

Type carrier(Type storage) {
  unsigned bits = storage.getIntOrFloatBitWidth();
  return bits < 32 ? IntegerType::get(storage.getContext(), bits) : storage;
}

Value convert(const Lanes &lanes, const Features &features, Value value, Type from, Type to,
              bool saturate) {
  if (from == to && !saturate)
    return value;
  if (isNarrow(from)) {
    value = widen(lanes, value, from);
    from = lanes.getBuilder().getF32Type();
  }
  if (isNarrow(to))
    return narrow(lanes, features, from.isF64() ? roundToOdd(lanes, value) : value, to, saturate);
  if (from == to)
    return value;
  Type wanted = lanes.type(to);
  return to.isF64() ? lanes.make<arith::ExtFOp>(wanted, value)
                    : lanes.make<arith::TruncFOp>(wanted, value);
}

} // namespace fw::cpu
