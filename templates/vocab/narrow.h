// Rounding of f32 to a narrow float format and back, over the operations of arithmetic.h alone:
// branch-free, and the definition that the conversion instructions of a target must agree with.
#pragma once

#include "templates/vocab/arithmetic.h"

namespace fw::math {

/// A narrow format and what rounding beyond its range gives. LIMIT is the first f32, as bits, that
/// is beyond; all codes are without sign. Without SIGNED_NAN every NaN becomes the one code
/// NAN_CODE.
struct Bf16Format {
  static constexpr int MANTISSA = 7, BIAS = 127;
  static constexpr u32 LIMIT = 0x7F7F8000;
  static constexpr u32 BEYOND = 0x7F80, INFINITE = 0x7F80, NAN_CODE = 0x7FFF;
  static constexpr bool SIGNED_NAN = false;
};
struct F16Format {
  static constexpr int MANTISSA = 10, BIAS = 15;
  static constexpr u32 LIMIT = 0x477FF000; // 65520
  static constexpr u32 BEYOND = 0x7C00, INFINITE = 0x7C00, NAN_CODE = 0x7FFF;
  static constexpr bool SIGNED_NAN = false;
};
struct E4m3fnFormat { // no infinity: S.1111.111 alone is NaN
  static constexpr int MANTISSA = 3, BIAS = 7;
  static constexpr u32 LIMIT = 0x43E80001; // behind 464, the tie that goes to 448
  static constexpr u32 BEYOND = 0x7F, INFINITE = 0x7F, NAN_CODE = 0x7F;
  static constexpr bool SIGNED_NAN = true;
};
struct E4m3fnSatFormat : E4m3fnFormat {
  static constexpr u32 BEYOND = 0x7E; // 448
};
struct E5m2Format {
  static constexpr int MANTISSA = 2, BIAS = 15;
  static constexpr u32 LIMIT = 0x47700000; // 61440
  static constexpr u32 BEYOND = 0x7C, INFINITE = 0x7C, NAN_CODE = 0x7F;
  static constexpr bool SIGNED_NAN = true;
};
struct E5m2SatFormat : E5m2Format {
  static constexpr u32 BEYOND = 0x7B; // 57344
};

/// The code of `x` in format F, rounded to nearest even.
template <class F, class N> FW_INLINE IntOf<N> encodeNarrow(N x) {
  using Int = IntOf<N>;
  constexpr int SHIFT = 23 - F::MANTISSA;
  constexpr u32 SIGN_SHIFT = 31 - (F::SIGNED_NAN ? 7 : 15);
  const Int u = bits(x) & 0x7FFFFFFFu;
  // Adding half an ulp, less one where the kept bits are even, carries into the exponent by itself.
  Int code = ((u + (((u >> SHIFT) & 1u) + ((1u << (SHIFT - 1)) - 1u))) >> SHIFT) -
             (static_cast<u32>(127 - F::BIAS) << F::MANTISSA);
  if constexpr (F::BIAS != 127) {
    // Below the smallest normal number the step is fixed: the f32 adder rounds to it when the other
    // operand has that step as its ulp, and the low bits of the sum count the steps.
    constexpr u32 MIN_NORMAL = static_cast<u32>(128 - F::BIAS) << 23;
    constexpr u32 STEPS = MIN_NORMAL + (static_cast<u32>(SHIFT) << 23);
    const Int steps = bits(fromBits(u) + fromBits(like(u, STEPS))) - STEPS;
    code = select(u < MIN_NORMAL, steps, code);
  }
  code = select(u >= F::LIMIT, like(u, F::BEYOND), code);
  code = select(u > 0x7F800000u, like(u, F::NAN_CODE), code);
  const Int sign = (bits(x) >> SIGN_SHIFT) & (F::SIGNED_NAN ? 0x80u : 0x8000u);
  if constexpr (F::SIGNED_NAN)
    return code | sign;
  return select(u > 0x7F800000u, code, code | sign);
}

/// The f32 that `code` stands for, exact; infinities and NaN keep their sign and payload.
template <class F, class Int> FW_INLINE auto decodeNarrow(Int code) {
  constexpr u32 MAGNITUDE = F::SIGNED_NAN ? 0x7F : 0x7FFF;
  constexpr int SIGN_SHIFT = 31 - (F::SIGNED_NAN ? 7 : 15);
  const Int magnitude = (code & MAGNITUDE) << (23 - F::MANTISSA);
  // Moves the exponent's bias; the product also normalises what is denormal in F.
  constexpr u32 REBIAS = static_cast<u32>(127 + 127 - F::BIAS) << 23;
  Int u = magnitude;
  if constexpr (F::BIAS != 127) {
    u = bits(fromBits(magnitude) * fromBits(like(code, REBIAS)));
    u = select((code & MAGNITUDE) >= F::INFINITE, magnitude | 0x7F800000u, u);
  }
  return fromBits(u | ((code & (MAGNITUDE + 1)) << SIGN_SHIFT));
}

/// `x` in f32 rounded to odd: rounding the result again to at most 22 bits gives what rounding `x`
/// once would have given.
FW_INLINE float roundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const u32 u = bitCast<u32>(nearest);
  const u32 truncated = u - (abs(back) > abs(x) ? 1u : 0u);
  return bitCast<float>(back != x && x == x ? truncated | 1u : u);
}

} // namespace fw::math
