// log, log2 and log1p in one branch-free text over arithmetic.h.
#pragma once

#include "templates/vocab/math_exponential.h"

namespace fw::math {

/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]. With s = f / (2 + f):
///   log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R),  R = s^2 P(s^2)
template <class N> FW_INLINE Sum<N> logNearOne(N f) {
  const N s = f / (like(f, 2.0) + f), z = s * s, square = like(f, 0.5) * f * f;
  N p;
  if constexpr (Number<N>::DOUBLE)
    p = horner(z, 0.66666666666667385, 0.3999999999938274, 0.28571428750406924, 0.22222197668122201,
               0.18183615211272031, 0.15312658254530576, 0.14810721804390442);
  else
    p = horner(z, 0.666667819, 0.399771035, 0.298846722);
  const N high = f - square;
  return {high, fma(s, fma(z, p, square), (f - high) - square)};
}

/// Exponent k of x, such that x 2^-k is in [sqrt(1/2), sqrt(2)]; x is positive and normal.
template <class N> FW_INLINE IntOf<N> exponentOf(N x) {
  constexpr u64 SQRT_HALF = Number<N>::DOUBLE ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  return shiftRightSigned(bits(x) - like(bits(x), SQRT_HALF), Format<N>::MANTISSA);
}

/// x = 2^k (1 + f); x positive, may be denormal.
template <class N> struct Split {
  N k, f;
};
template <class N> FW_INLINE Split<N> splitExponent(N x) {
  const auto isDenormal = x < fromBits(like(bits(x), Format<N>::MIN_NORMAL));
  const N normal = select(isDenormal, x * like(x, 18014398509481984.0), x); // 2^54
  const IntOf<N> k = exponentOf(normal);
  const N fraction = fromBits(bits(normal) - (k << Format<N>::MANTISSA));
  return {toReal(k) - select(isDenormal, like(x, 54.0), like(x, 0.0)), fraction - like(x, 1.0)};
}

/// k + r where |k| is 0 or larger than |r.high|, without losing what k + r.high rounds away.
template <class N> FW_INLINE N addInteger(N k, Sum<N> r) {
  const N sum = k + r.high;
  return sum + (((k - sum) + r.high) + r.low);
}

/// k ln 2 + r. The high part of ln 2 has zeros at its end, so its product is exact.
template <class N> FW_INLINE N addLn2Times(N k, Sum<N> r) {
  constexpr bool DOUBLE = Number<N>::DOUBLE;
  const N high = like(k, DOUBLE ? 0.6931471805601177 : 0.693145751953125);
  const N low = like(k, DOUBLE ? -1.7239444525614835e-13 : 1.428606765330187e-06);
  return addInteger(k * high, Sum<N>{r.high, fma(k, low, r.low)});
}

/// `y`, but for what a logarithm of x is at the ends: -inf at 0, inf at inf, else NaN.
template <class N> FW_INLINE N logAtEnds(N x, N y) {
  const N zero = like(x, 0.0), infinity = infinityLike(x);
  const N nan = fromBits(like(bits(x), Format<N>::INFINITE | Format<N>::INFINITE >> 1));
  const N inside = select(x == infinity, infinity, y);
  return select(x > zero, inside, select(x == zero, -infinity, nan));
}

template <class N> FW_INLINE N log(N x) {
  const Split<N> split = splitExponent(x);
  return logAtEnds(x, addLn2Times(split.k, logNearOne(split.f)));
}

template <class N> FW_INLINE N log2(N x) {
  const Split<N> split = splitExponent(x);
  const Sum<N> r = logNearOne(split.f), log2e = log2eSum(x);
  const N high = r.high * log2e.high;
  const N low = fma(r.high, log2e.high, -high) + fma(r.high, log2e.low, r.low * log2e.high);
  return logAtEnds(x, addInteger(split.k, Sum<N>{high, low}));
}

/// With 1 + x = 2^k (1 + f): f = x 2^-k + (2^-k - 1), rounded once, and not at all for k = 0. From
/// 2^64 on 1 no longer counts, and 2^64 is taken out first: 2^-k may have no normal representation.
template <class N> FW_INLINE N log1p(N x) {
  const N one = like(x, 1.0), sum = one + x;
  const auto isLarge = sum >= like(x, 18446744073709551616.0); // 2^64
  const IntOf<N> k = exponentOf(sum);
  const IntOf<N> shift = select(isLarge, k - like(k, 64), k);
  const N scale = powerOfTwo<N>(like(k, 0) - shift);
  const N f = fma(select(isLarge, x * like(x, 5.42101086242752217e-20), x), scale,
                  select(isLarge, -one, scale - one));
  const N y = addLn2Times(toReal(k), logNearOne(f));
  return select(abs(x) < like(x, 1e-18), x, logAtEnds(sum, y));
}

} // namespace fw::math
