// The operations of the scalar program, in f64: X(name, arity, value of the operands a, b, c).
// Booleans are 0 and 1; comparisons with NaN are false except `ne`. Records on disk hold names;
// kernels that end with a scalar program hold these texts, so names are spelled in full. The
// compiler's headers include this one, so it brings no macro but the table along.
#pragma once

#define FW_SCALAR_OPERATIONS(X)                                                                    \
  X(add, 2, a + b)                                                                                 \
  X(sub, 2, a - b)                                                                                 \
  X(mul, 2, (a * b))                                                                               \
  X(div, 2, a / b)                                                                                 \
  X(neg, 1, -a)                                                                                    \
  X(abs, 1, fw::math::abs(a))                                                                      \
  X(sign, 1, fw::math::sign(a))                                                                    \
  X(min, 2, fw::math::min(a, b))                                                                   \
  X(max, 2, fw::math::max(a, b))                                                                   \
  X(clamp, 3, fw::math::min(fw::math::max(a, b), c))                                               \
  X(floor, 1, fw::math::floor(a))                                                                  \
  X(ceil, 1, fw::math::ceil(a))                                                                    \
  X(round, 1, fw::math::roundEven(a))                                                              \
  X(trunc, 1, fw::math::trunc(a))                                                                  \
  X(fma, 3, fw::math::fma(a, b, c))                                                                \
  X(pow_int, 2, fw::math::power(a, fw::math::wholeNumber(b)))                                      \
  X(int_div, 2, fw::math::wholes::div(a, b))                                                       \
  X(int_mod, 2, fw::math::wholes::mod(a, b))                                                       \
  X(shift_left, 2, fw::math::wholes::shiftLeft(a, b))                                              \
  X(shift_right, 2, fw::math::wholes::shiftRight(a, b))                                            \
  X(int_and, 2, fw::math::wholes::bitAnd(a, b))                                                    \
  X(int_or, 2, fw::math::wholes::bitOr(a, b))                                                      \
  X(int_xor, 2, fw::math::wholes::bitXor(a, b))                                                    \
  X(sqrt, 1, fw::math::sqrt(a))                                                                    \
  X(rsqrt, 1, fw::math::rsqrt(a))                                                                  \
  X(exp, 1, fw::math::exp(a))                                                                      \
  X(exp2, 1, fw::math::exp2(a))                                                                    \
  X(expm1, 1, fw::math::expm1(a))                                                                  \
  X(log, 1, fw::math::log(a))                                                                      \
  X(log2, 1, fw::math::log2(a))                                                                    \
  X(log1p, 1, fw::math::log1p(a))                                                                  \
  X(tanh, 1, fw::math::tanh(a))                                                                    \
  X(erf, 1, fw::math::erf(a))                                                                      \
  X(sin, 1, fw::math::sin(a))                                                                      \
  X(cos, 1, fw::math::cos(a))                                                                      \
  X(sigmoid, 1, fw::math::sigmoid(a))                                                              \
  X(eq, 2, a == b)                                                                                 \
  X(ne, 2, a != b)                                                                                 \
  X(lt, 2, a < b)                                                                                  \
  X(le, 2, a <= b)                                                                                 \
  X(gt, 2, a > b)                                                                                  \
  X(ge, 2, a >= b)                                                                                 \
  X(and_, 2, a != 0 && b != 0)                                                                     \
  X(or_, 2, a != 0 || b != 0)                                                                      \
  X(xor_, 2, (a != 0) != (b != 0))                                                                 \
  X(not_, 1, a == 0)                                                                               \
  X(isfinite, 1, fw::math::isFinite(a))                                                            \
  X(isnan, 1, fw::math::isNan(a))                                                                  \
  X(select, 3, a != 0 ? b : c)                                                                     \
  X(round_f32, 1, fw::roundTo<float>(a))                                                           \
  X(round_f16, 1, fw::roundTo<fw::f16>(a))                                                         \
  X(round_bf16, 1, fw::roundTo<fw::bf16>(a))                                                       \
  X(round_e4m3fn, 1, fw::roundTo<fw::e4m3fn>(a))                                                   \
  X(round_e4m3fn_sat, 1, fw::roundTo<fw::e4m3fn_sat>(a))                                           \
  X(round_e5m2, 1, fw::roundTo<fw::e5m2>(a))                                                       \
  X(round_e5m2_sat, 1, fw::roundTo<fw::e5m2_sat>(a))

namespace fw {

enum class ScalarCode : unsigned {
#define FW_NAME(name, arity, value) name,
  FW_SCALAR_OPERATIONS(FW_NAME)
#undef FW_NAME
};

/// Operands are value numbers: inputs first, then constants, then the results of the operations in
/// order. Those that the operation does not take name any earlier value.
struct ScalarOperation {
  ScalarCode code;
  unsigned a, b, c;
};
static_assert(sizeof(ScalarOperation) == 16, "the device reads lists of operations");

} // namespace fw
