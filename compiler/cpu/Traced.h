// Number types whose operators build operations instead of computing: the templates of
// templates/vocab (functions, storage formats) instantiated with them become vector code that does,
// bit for bit, what the same text does on a GPU and in the evaluator. The contract they meet is
// stated in templates/vocab/arithmetic.h.
#pragma once

#include "compiler/cpu/Lanes.h"
#include "templates/vocab/arithmetic.h"

#include <concepts>

namespace fw::cpu {

/// Comparison results: i1 in each lane.
struct TracedMask {
  const Lanes *lanes = nullptr;
  mlir::Value value = {};
};

/// Unsigned integers of 32 or (DOUBLE) 64 bits; wrapping.
template <bool DOUBLE> struct TracedInt {
  static constexpr unsigned BITS = DOUBLE ? 64 : 32;
  const Lanes *lanes = nullptr;
  mlir::Value value = {};

  TracedInt constant(uint64_t literal) const { return {lanes, lanes->integer(BITS, literal)}; }
};

/// f32 or (DOUBLE) f64.
template <bool DOUBLE> struct TracedReal {
  const Lanes *lanes = nullptr;
  mlir::Value value = {};

  mlir::Type scalarType() const {
    mlir::OpBuilder &builder = lanes->getBuilder();
    return DOUBLE ? mlir::Type(builder.getF64Type()) : mlir::Type(builder.getF32Type());
  }
};

using TracedFloat = TracedReal<false>;
using TracedDouble = TracedReal<true>;

// Real arithmetic.
#define FW_TRACED_BINARY(Symbol, Op)                                                               \
  template <bool D> TracedReal<D> operator Symbol(TracedReal<D> a, TracedReal<D> b) {              \
    return {a.lanes, a.lanes->template make<mlir::arith::Op>(a.value, b.value)};                   \
  }
FW_TRACED_BINARY(+, AddFOp)
FW_TRACED_BINARY(-, SubFOp)
FW_TRACED_BINARY(*, MulFOp)
FW_TRACED_BINARY(/, DivFOp)
#undef FW_TRACED_BINARY
#define FW_TRACED_COMPARE(Symbol, predicate)                                                       \
  template <bool D> TracedMask operator Symbol(TracedReal<D> a, TracedReal<D> b) {                 \
    return {a.lanes, a.lanes->compare(mlir::arith::CmpFPredicate::predicate, a.value, b.value)};   \
  }
FW_TRACED_COMPARE(<, OLT)
FW_TRACED_COMPARE(<=, OLE)
FW_TRACED_COMPARE(>, OGT)
FW_TRACED_COMPARE(>=, OGE)
FW_TRACED_COMPARE(==, OEQ)
FW_TRACED_COMPARE(!=, UNE)
#undef FW_TRACED_COMPARE

template <bool D> TracedReal<D> operator-(TracedReal<D> x) {
  return {x.lanes, x.lanes->template make<mlir::arith::NegFOp>(x.value)};
}
template <bool D> TracedReal<D> like(TracedReal<D> x, double literal) {
  return {x.lanes, x.lanes->number(x.scalarType(), literal)};
}
template <bool D> TracedReal<D> fma(TracedReal<D> a, TracedReal<D> b, TracedReal<D> c) {
  return {a.lanes, a.lanes->template make<mlir::math::FmaOp>(a.value, b.value, c.value)};
}
template <bool D> TracedReal<D> sqrt(TracedReal<D> x) {
  return {x.lanes, x.lanes->template make<mlir::math::SqrtOp>(x.value)};
}
template <bool D> TracedReal<D> abs(TracedReal<D> x) {
  return {x.lanes, x.lanes->template make<mlir::math::AbsFOp>(x.value)};
}

// Integer arithmetic, with another integer or a constant on the right.
template <class C>
concept Constant = std::integral<C>;
#define FW_TRACED_BINARY(Symbol, Op)                                                               \
  template <bool D> TracedInt<D> operator Symbol(TracedInt<D> a, TracedInt<D> b) {                 \
    return {a.lanes, a.lanes->template make<mlir::arith::Op>(a.value, b.value)};                   \
  }                                                                                                \
  template <bool D, Constant C> TracedInt<D> operator Symbol(TracedInt<D> a, C b) {                \
    return a Symbol a.constant(static_cast<uint64_t>(b));                                          \
  }
FW_TRACED_BINARY(+, AddIOp)
FW_TRACED_BINARY(-, SubIOp)
FW_TRACED_BINARY(*, MulIOp)
FW_TRACED_BINARY(&, AndIOp)
FW_TRACED_BINARY(|, OrIOp)
FW_TRACED_BINARY(^, XOrIOp)
FW_TRACED_BINARY(<<, ShLIOp)
FW_TRACED_BINARY(>>, ShRUIOp)
#undef FW_TRACED_BINARY
#define FW_TRACED_COMPARE(Symbol, predicate)                                                       \
  template <bool D> TracedMask operator Symbol(TracedInt<D> a, TracedInt<D> b) {                   \
    return {a.lanes, a.lanes->compare(mlir::arith::CmpIPredicate::predicate, a.value, b.value)};   \
  }                                                                                                \
  template <bool D, Constant C> TracedMask operator Symbol(TracedInt<D> a, C b) {                  \
    return a Symbol a.constant(static_cast<uint64_t>(b));                                          \
  }
FW_TRACED_COMPARE(<, ult)
FW_TRACED_COMPARE(<=, ule)
FW_TRACED_COMPARE(>, ugt)
FW_TRACED_COMPARE(>=, uge)
FW_TRACED_COMPARE(==, eq)
FW_TRACED_COMPARE(!=, ne)
#undef FW_TRACED_COMPARE

template <bool D> TracedInt<D> like(TracedInt<D> x, uint64_t literal) {
  return x.constant(literal);
}
template <bool D> TracedInt<D> shiftRightSigned(TracedInt<D> x, int by) {
  return {x.lanes, x.lanes->template make<mlir::arith::ShRSIOp>(x.value, x.constant(by).value)};
}
/// The upper half of the product, from halves whose products fit a lane: no wider lanes.
template <bool D> TracedInt<D> mulHigh(TracedInt<D> a, TracedInt<D> b) {
  constexpr int HALF = TracedInt<D>::BITS / 2;
  constexpr uint64_t LOW = (uint64_t{1} << HALF) - 1;
  TracedInt<D> aLow = a & LOW, aHigh = a >> HALF, bLow = b & LOW, bHigh = b >> HALF;
  TracedInt<D> middle = aHigh * bLow + ((aLow * bLow) >> HALF);
  TracedInt<D> other = aLow * bHigh + (middle & LOW);
  return aHigh * bHigh + (middle >> HALF) + (other >> HALF);
}

// Between the two, and masks.
template <bool D> TracedInt<D> bits(TracedReal<D> x) { return {x.lanes, x.lanes->bits(x.value)}; }
template <bool D> TracedReal<D> fromBits(TracedInt<D> x) {
  return {x.lanes, x.lanes->fromBits(x.value, TracedReal<D>{x.lanes}.scalarType())};
}
template <bool D> TracedReal<D> toReal(TracedInt<D> x) {
  mlir::Type type = x.lanes->type(TracedReal<D>{x.lanes}.scalarType());
  return {x.lanes, x.lanes->template make<mlir::arith::SIToFPOp>(type, x.value)};
}
template <template <bool> class T, bool D> T<D> select(TracedMask m, T<D> yes, T<D> no) {
  return {yes.lanes, yes.lanes->select(m.value, yes.value, no.value)};
}
inline TracedMask both(TracedMask a, TracedMask b) {
  return {a.lanes, a.lanes->make<mlir::arith::AndIOp>(a.value, b.value)};
}
inline TracedMask either(TracedMask a, TracedMask b) {
  return {a.lanes, a.lanes->make<mlir::arith::OrIOp>(a.value, b.value)};
}

} // namespace fw::cpu

namespace fw::math {
template <bool D> struct Number<cpu::TracedReal<D>> {
  using Int = cpu::TracedInt<D>;
  static constexpr bool DOUBLE = D;
};
} // namespace fw::math
