// exp, exp2, expm1, tanh, sigmoid and erf in one branch-free text over arithmetic.h.
// Polynomials are minimax fits; bounds of the results stand in functions.def.
#pragma once

#include "templates/vocab/polynomial.h"

namespace fw::math {

/// A real number as an unevaluated sum, |low| at most about an ulp of high.
template <class N> struct Sum {
  N high, low;
};

/// ln 2 and log2(e) to twice the precision of N.
template <class N> FW_INLINE Sum<N> ln2Sum(N x) {
  if constexpr (Number<N>::DOUBLE)
    return {like(x, 0.69314718055994529), like(x, 2.3190468138462996e-17)};
  else
    return {like(x, 0.693147182464599609), like(x, -1.90465429995776804e-09)};
}
template <class N> FW_INLINE Sum<N> log2eSum(N x) {
  if constexpr (Number<N>::DOUBLE)
    return {like(x, 1.4426950408889634), like(x, 2.0355273740931033e-17)};
  else
    return {like(x, 1.44269502162933350), like(x, 1.92596299112661746e-08)};
}

/// An integer near x, as a number and as (wrapping) bits: the addition rounds it into the low bits.
template <class N> struct Nearest {
  N real;
  IntOf<N> bits;
};
template <class N> FW_INLINE Nearest<N> nearestOfProduct(N x, N factor) {
  const N magic = like(x, Number<N>::DOUBLE ? 6755399441055744.0 : 12582912.0); // 1.5 * 2^MANTISSA
  const N sum = fma(x, factor, magic);
  return {sum - magic, bits(sum) - bits(magic)};
}

/// 2^k for -BIAS < k <= BIAS.
template <class N> FW_INLINE N powerOfTwo(IntOf<N> k) {
  return fromBits((k << Format<N>::MANTISSA) + Format<N>::ONE);
}
/// y * 2^k, |k| up to twice the exponent range, rounded once also where the result is denormal.
template <class N> FW_INLINE N scaled(N y, IntOf<N> k) {
  const IntOf<N> half = shiftRightSigned(k, 1);
  return y * powerOfTwo<N>(half) * powerOfTwo<N>(k - half);
}

/// x moved into [low, high]; NaN becomes low.
template <class N> FW_INLINE N clamped(N x, double low, double high) {
  const N atLeast = select(x > like(x, low), x, like(x, low));
  return select(atLeast < like(x, high), atLeast, like(x, high));
}

/// exp(r) - 1 for |r| <= ln(2)/2, its high part being that of r.
template <class N> FW_INLINE Sum<N> expm1Reduced(Sum<N> r) {
  const N x = r.high;
  N q; // (exp(x) - 1 - x) / x^2
  if constexpr (Number<N>::DOUBLE)
    q = horner(x, 0.5, 0.16666666666666677, 0.041666666666666706, 0.0083333333333206888,
               0.0013888888888865145, 0.00019841269888816183, 2.480158736397945e-05,
               2.7557241233774151e-06, 2.7557239794701083e-07, 2.5110156661942197e-08,
               2.0925366104761726e-09);
  else
    q = horner(x, 0.5, 0.166666672, 0.0416663438, 0.00833327044, 0.00139420072, 0.000199155518);
  return {x, fma(x * x, q, r.low)};
}

/// x - k ln 2 for the integer k nearest to x / ln 2. The first product and difference are exact.
template <class N> FW_INLINE Sum<N> minusLn2Times(N x, N k) {
  const Sum<N> ln2 = ln2Sum(x);
  const N first = fma(-k, ln2.high, x), second = -k * ln2.low, high = first + second;
  return {high, (first - high) + second};
}

/// exp(r) for |r| <= ln(2)/2, and what it was rounded by.
template <class N> FW_INLINE Sum<N> expReduced(Sum<N> r) {
  const Sum<N> part = expm1Reduced(r);
  const N one = like(r.high, 1.0), change = part.high + part.low, y = one + change;
  return {y, (one - y) + change};
}

/// exp of a number inside the range that clamped() was given for N.
template <class N> FW_INLINE N expInside(N x) {
  const Nearest<N> k = nearestOfProduct(x, log2eSum(x).high);
  return scaled(expReduced(minusLn2Times(x, k.real)).high, k.bits);
}
/// Where exp has passed zero and infinity.
template <class N> FW_INLINE N expClamped(N x) {
  return Number<N>::DOUBLE ? clamped(x, -746.0, 710.0) : clamped(x, -104.0, 89.0);
}

template <class N> FW_INLINE N exp(N x) { return select(isNan(x), x, expInside(expClamped(x))); }

template <class N> FW_INLINE N exp2(N x) {
  const N inside = Number<N>::DOUBLE ? clamped(x, -1076.0, 1025.0) : clamped(x, -151.0, 129.0);
  const Nearest<N> k = nearestOfProduct(inside, like(x, 1.0));
  const N rest = inside - k.real; // exact
  const Sum<N> ln2 = ln2Sum(x);
  const N high = rest * ln2.high;
  const N low = fma(rest, ln2.low, fma(rest, ln2.high, -high));
  const N y = scaled(expReduced(Sum<N>{high, low}).high, k.bits);
  return select(isNan(x), x, y);
}

/// 2^k (exp(r) - 1) + (2^k - 1), all halved: k may be one more than the largest exponent.
template <class N> FW_INLINE N expm1(N x) {
  const N inside = Number<N>::DOUBLE ? clamped(x, -50.0, 710.0) : clamped(x, -50.0, 89.0);
  const Nearest<N> k = nearestOfProduct(inside, log2eSum(x).high);
  const Sum<N> reduced = expm1Reduced(minusLn2Times(inside, k.real));
  const N half = powerOfTwo<N>(k.bits - like(k.bits, 1));
  const N y = fma(half, reduced.high, half - like(x, 0.5)) + half * reduced.low;
  return select(either(isNan(x), abs(x) < like(x, 1e-18)), x, y + y);
}

/// The magnitude `y` with the sign of `x`.
template <class N> FW_INLINE N withSignOf(N y, N x) {
  return fromBits(bits(y) | (bits(x) & Format<N>::SIGN));
}

/// Near zero x + x^3 P(x^2), beyond 1 - 2 / (exp(2|x|) + 1).
template <class N> FW_INLINE N tanh(N x) {
  const N a = clamped(abs(x), 0.0, 20.0), z = a * a, one = like(x, 1.0), two = like(x, 2.0);
  N p;
  if constexpr (Number<N>::DOUBLE)
    p = horner(z, -0.33333333333333326, 0.13333333333331834, -0.053968253967251439,
               0.02186948850250978, -0.0088632348674737935, 0.0035921197149902085,
               -0.0014557644253409031, 0.00058962373963221632, -0.00023751728012260368,
               9.2498217227928646e-05, -3.1188394046217958e-05, 6.5081435654099546e-06);
  else
    p = horner(z, -0.333333313, 0.133332476, -0.0539524965, 0.021734545, -0.00826734118,
               0.002231288);
  const N near = fma(a * z, p, a);
  const N far = one - two / (expInside(a + a) + one);
  return select(isNan(x), x, withSignOf(select(a < like(x, 0.6), near, far), x));
}

/// e = exp(-|x|) never overflows: 1 / (1 + e) for x >= 0, e / (1 + e) below. The quotient q is
/// freed of what e and 1 + e were rounded by; 1 / (1 + e) is q or 1 - q, near enough for that.
template <class N> FW_INLINE N sigmoid(N x) {
  const N one = like(x, 1.0), zero = like(x, 0.0);
  const N inside = expClamped(-abs(x));
  const Nearest<N> k = nearestOfProduct(inside, log2eSum(x).high);
  const Sum<N> y = expReduced(minusLn2Times(inside, k.real));
  const N e = scaled(y.high, k.bits), eRest = scaled(y.low, k.bits);
  const auto isNegative = x < zero;
  const N sum = one + e, rest = ((one - sum) + e) + eRest;
  const N q = select(isNegative, e, one) / sum;
  const N inverse = select(isNegative, one - q, q);
  return select(isNan(x), x, fma(fma(-q, rest, select(isNegative, eRest, zero)), inverse, q));
}

/// -log(erfc(1 + t)) for 0 <= t <= 3 (f32) or 5 (f64).
template <class N> FW_INLINE N minusLogErfc(N t) {
  if constexpr (Number<N>::DOUBLE)
    return horner(t, 1.8496055099332482, 2.6389675142347908, 0.84310725635851191,
                  0.041561098045827409, -0.010033825424905617, 0.0019779029458226612,
                  -0.00023732431725810381, -2.6271754623639601e-05, 2.7144568225353621e-05,
                  -9.5836191313783892e-06, 2.0270628662731612e-06, -1.1104372557259613e-07,
                  -1.2095050313812694e-07, 6.5014343323333482e-08, -2.0290366785685738e-08,
                  4.50107422340488e-09, -7.2251244104251179e-10, 8.0315246405625884e-11,
                  -5.5396841907801969e-12, 1.7839538899372258e-13);
  else
    return horner(t, 1.84960556, 2.6389668, 0.843117595, 0.0415034853, -0.0098954346, 0.00182936317,
                  -0.000186373785);
}

/// Up to 1: x + x P(x^2); beyond: 1 - exp(log(erfc |x|)).
template <class N> FW_INLINE N erf(N x) {
  const N a = clamped(abs(x), 0.0, Number<N>::DOUBLE ? 6.0 : 4.0), z = a * a;
  N p;
  if constexpr (Number<N>::DOUBLE)
    p = horner(z, 0.12837916709551259, -0.37612638903183748, 0.11283791670954885,
               -0.026866170645077864, 0.0052239776248283239, -0.0008548326981419875,
               0.00012055331132763306, -1.4925595767856346e-05, 1.6461008412804645e-06,
               -1.6350395576364031e-07, 1.4660324639908822e-08, -1.1374940913583501e-09,
               5.9606617874144135e-11);
  else
    p = horner(z, 0.128379166, -0.37612626, 0.112836003, -0.0268544443, 0.00518953661,
               -0.000802085444, 7.88916514e-05);
  const N near = fma(a, p, a);
  const N far = like(x, 1.0) - expInside(-minusLogErfc(a - like(x, 1.0)));
  return select(isNan(x), x, withSignOf(select(a < like(x, 1.0), near, far), x));
}

} // namespace fw::math
