// sin and cos in one branch-free text over arithmetic.h, for every finite argument.
#pragma once

#include "templates/vocab/math_exponential.h"

namespace fw::math {

/// Bits of 2/pi behind the binary point, 32 a word.
constexpr u32 twoOverPi(int word) {
  constexpr u32 WORDS[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
                           0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C,
                           0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41,
                           0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
                           0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
                           0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08,
                           0x56033046, 0xFC7B6BAB};
  return WORDS[word];
}
/// The same as words of N's width, behind one word of zeros.
template <class N> constexpr u64 twoOverPiWord(int word) {
  if (word == 0)
    return 0;
  if (!Number<N>::DOUBLE)
    return twoOverPi(word - 1);
  return static_cast<u64>(twoOverPi(2 * word - 2)) << 32 | twoOverPi(2 * word - 1);
}

/// An angle as quadrant + r, r in [-pi/4, pi/4]; the quadrant counts modulo 4.
template <class N> struct Angle {
  IntOf<N> quadrant;
  Sum<N> r;
};

/// words[k] for k < KEEP becomes words[k + STEP] where `condition`: one stage of a barrel shifter.
template <int KEEP, int STEP, class Mask, class Int>
FW_INLINE void shiftWords(Mask condition, Int *words) {
#pragma unroll
  for (int k = 0; k < KEEP; ++k)
    words[k] = select(condition, words[k + STEP], words[k]);
}

/// Three words of the bits of 2/pi from bit `start` of twoOverPiWord on.
template <class N> struct Window {
  IntOf<N> words[3];
};
template <class N> FW_INLINE Window<N> windowOfTwoOverPi(IntOf<N> start) {
  using Int = IntOf<N>;
  constexpr bool DOUBLE = Number<N>::DOUBLE;
  constexpr int WIDTH = Format<N>::WIDTH, LOG_WIDTH = DOUBLE ? 6 : 5, WORDS = DOUBLE ? 20 : 8;
  Int words[WORDS];
#pragma unroll
  for (int k = 0; k < WORDS; ++k)
    words[k] = like(start, twoOverPiWord<N>(k));
  const Int word = start >> LOG_WIDTH;
  if constexpr (DOUBLE) {
    shiftWords<4, 16>((word & 16) != 0, words); // word 16 is the last one: nothing is left to shift
    shiftWords<11, 8>((word & 8) != 0, words);
  }
  shiftWords<DOUBLE ? 7 : 4, 4>((word & 4) != 0, words);
  shiftWords<5, 2>((word & 2) != 0, words);
  shiftWords<4, 1>((word & 1) != 0, words);
  const Int by = start & (WIDTH - 1), rest = like(by, WIDTH - 1) - by;
  Window<N> window;
#pragma unroll
  for (int k = 0; k < 3; ++k)
    window.words[k] = (words[k] << by) | ((words[k + 1] >> 1) >> rest);
  return window;
}

/// fraction / 2^(2 WIDTH) quarter turns in radians; the fraction is signed, of two words.
template <class N> FW_INLINE Sum<N> quarterTurns(N x, IntOf<N> upper, IntOf<N> lower) {
  using Int = IntOf<N>;
  constexpr int WIDTH = Format<N>::WIDTH, DIGITS = Format<N>::MANTISSA + 1;
  constexpr int LEFT =
      WIDTH - DIGITS; // bits of the upper word that N cannot hold beside the others
  constexpr int TAKEN = DIGITS - LEFT; // bits of the lower word that go with them
  // Three numbers without rounding: the fraction is a + b 2^-TAKEN + c 2^-WIDTH upper units.
  const Int last = like(upper, (1u << LEFT) - 1);
  const N a = toReal(upper - (upper & last));
  const N b = toReal(((upper & last) << TAKEN) | (lower >> (WIDTH - TAKEN)));
  const N c = toReal((lower << TAKEN) >> TAKEN);
  const N middle = b * like(x, Number<N>::DOUBLE ? 0x1p-42 : 0x1p-16);
  const N sum = a + middle;
  const N rest = fma(c, like(x, Number<N>::DOUBLE ? 0x1p-64 : 0x1p-32), (a - sum) + middle);
  // pi/2 upper units, to twice the precision.
  const N unit =
      like(x, Number<N>::DOUBLE ? 1.5707963267948966 * 0x1p-64 : 1.57079637050628662 * 0x1p-32);
  const N unitLow = like(x, Number<N>::DOUBLE ? 6.123233995736766e-17 * 0x1p-64
                                              : -4.37113900018624283e-08 * 0x1p-32);
  const N high = sum * unit;
  return {high, fma(sum, unit, -high) + fma(sum, unitLow, rest * unit)};
}

/// Reduction of a >= 0 by Payne and Hanek. a = m 2^e; the bits of 2/pi that give multiples of 4 in
/// a 2/pi are left out, and three words of the others determine the fraction to 2^-WIDTH beyond the
/// closest that any number comes to a multiple of pi/2.
template <class N> FW_INLINE Angle<N> reducedAngle(N a) {
  using Int = IntOf<N>;
  constexpr int WIDTH = Format<N>::WIDTH, MANTISSA = Format<N>::MANTISSA;
  const auto isSmall = a <= like(a, 0.78539816339744828);
  const N inside = select(isSmall, like(a, 1.0), a);
  constexpr auto HIDDEN = Format<N>::MIN_NORMAL;
  const Int m = (bits(inside) & (HIDDEN - 1)) | HIDDEN;
  const Int start = (bits(inside) >> MANTISSA) - (Format<N>::BIAS + MANTISSA + 2 - WIDTH);
  const Window<N> p = windowOfTwoOverPi<N>(start & 2047);
  const Int product = m * p.words[1];
  const Int lower = product + mulHigh(m, p.words[2]);
  const Int carry = select(lower < product, like(m, 1), like(m, 0));
  const Int upper = m * p.words[0] + mulHigh(m, p.words[1]) + carry;
  // Two bits of quadrant; what is left counts as negative from half a quadrant on.
  const Int fraction = (upper << 2) | (lower >> (WIDTH - 2));
  const Int quadrant = (upper >> (WIDTH - 2)) + (fraction >> (WIDTH - 1));
  const Sum<N> r = quarterTurns(a, fraction, lower << 2);
  return {select(isSmall, like(m, 0), quadrant),
          {select(isSmall, a, r.high), select(isSmall, like(a, 0.0), r.low)}};
}

template <class N> FW_INLINE N sinReduced(Sum<N> r) {
  const N x = r.high, z = x * x;
  N p; // (sin(x)/x - 1) / x^2
  if constexpr (Number<N>::DOUBLE)
    p = horner(z, -0.16666666666666666, 0.0083333333333333228, -0.00019841269841255007,
               2.7557319214156965e-06, -2.5052104902365604e-08, 1.6058365398785076e-10,
               -7.5786346546016018e-13);
  else
    p = horner(z, -0.166666672, 0.00833332911, -0.000198393274, 2.7182416e-06);
  return x + fma(x * z, p, fma(z * like(x, -0.5), r.low, r.low));
}
template <class N> FW_INLINE N cosReduced(Sum<N> r) {
  const N x = r.high, z = x * x, half = like(x, 0.5) * z, one = like(x, 1.0);
  N p; // (cos(x) - 1 + x^2/2) / x^4
  if constexpr (Number<N>::DOUBLE)
    p = horner(z, 0.041666666666666664, -0.0013888888888888874, 2.4801587301571533e-05,
               -2.7557319215382479e-07, 2.0876754365921159e-09, -1.1470293082652975e-11,
               4.7380949609894798e-14);
  else
    p = horner(z, 0.0416666679, -0.00138888834, 2.4799514e-05, -2.72097111e-07);
  const N sum = one - half;
  return sum + (((one - sum) - half) + fma(z * z, p, -(x * r.low)));
}

/// sin of a quarter turn `quadrant` plus r, negated where the top bit of `sign` is set.
template <class N> FW_INLINE N sinAtQuadrant(IntOf<N> quadrant, Sum<N> r, IntOf<N> sign) {
  const N magnitude = select((quadrant & 1) != 0, cosReduced(r), sinReduced(r));
  const IntOf<N> turned = (quadrant & 2) << (Format<N>::WIDTH - 2);
  return fromBits(bits(magnitude) ^ turned ^ (sign & Format<N>::SIGN));
}

template <class N> FW_INLINE N sin(N x) {
  const Angle<N> angle = reducedAngle(abs(x));
  return select(isFinite(x), sinAtQuadrant<N>(angle.quadrant, angle.r, bits(x)), x - x);
}
template <class N> FW_INLINE N cos(N x) {
  const Angle<N> angle = reducedAngle(abs(x));
  const IntOf<N> one = like(angle.quadrant, 1);
  return select(isFinite(x), sinAtQuadrant<N>(angle.quadrant + one, angle.r, like(one, 0)), x - x);
}

} // namespace fw::math
