// The operations that a number type N must have, and their forms for float and double. Everything
// else in fw::math is written over them alone, so one text serves NVRTC, the emulator, the
// evaluator and a compiler that traces it with a number type of its own. That type must offer, all
// found by argument-dependent lookup and none of them a branch:
//
//   Number<N>::Int, ::DOUBLE              integer of the same width; f32 (false) or f64 (true)
//   layout N: + - * / unary -, < <= > >= == !=   comparisons give a mask M, false on NaN (but !=)
//   Int: + - * & | ^ <<  and >> (logical) of Int with Int or with a constant; wrapping; shifts <
//   width Int: < <= > >= == != (unsigned) of Int with Int or with a constant, giving a mask M
//   like(N, double) -> N, like(Int, u64) -> Int     a constant of the type (and place) of the first
//   fma(N, N, N), sqrt(N), abs(N)         rounded once; abs clears the sign bit
//   select(M, a, b)                       of N and of Int; both arms are evaluated
//   both(M, M), either(M, M)              mask and, or
//   bits(N) -> Int, fromBits(Int) -> N    the same bits (of the f32 or f64 that N stands for)
//   shiftRightSigned(Int, int)            copies the sign bit
//   mulHigh(Int, Int) -> Int              upper half of the unsigned product
//   toReal(Int) -> N                      of the signed value, to nearest even
//
// N and Int are default constructible and copyable; C++ arrays of them are indexed by constants
// only.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw::math {

template <class N> struct Number;
template <> struct Number<float> {
  using Int = u32;
  static constexpr bool DOUBLE = false;
};
template <> struct Number<double> {
  using Int = u64;
  static constexpr bool DOUBLE = true;
};
template <class N> using IntOf = typename Number<N>::Int;

FW_INLINE float like(float, double x) { return static_cast<float>(x); }
FW_INLINE double like(double, double x) { return x; }
FW_INLINE u32 like(u32, u64 x) { return static_cast<u32>(x); }
FW_INLINE u64 like(u64, u64 x) { return x; }

FW_INLINE float select(bool m, float a, float b) { return m ? a : b; }
FW_INLINE double select(bool m, double a, double b) { return m ? a : b; }
FW_INLINE u32 select(bool m, u32 a, u32 b) { return m ? a : b; }
FW_INLINE u64 select(bool m, u64 a, u64 b) { return m ? a : b; }
FW_INLINE bool both(bool a, bool b) { return a && b; }
FW_INLINE bool either(bool a, bool b) { return a || b; }

FW_INLINE u32 bits(float x) { return bitCast<u32>(x); }
FW_INLINE u64 bits(double x) { return bitCast<u64>(x); }
FW_INLINE float fromBits(u32 i) { return bitCast<float>(i); }
FW_INLINE double fromBits(u64 i) { return bitCast<double>(i); }
FW_INLINE u32 shiftRightSigned(u32 i, int by) {
  return static_cast<u32>(static_cast<int>(i) >> by);
}
FW_INLINE u64 shiftRightSigned(u64 i, int by) {
  return static_cast<u64>(static_cast<i64>(i) >> by);
}
FW_INLINE float toReal(u32 i) { return static_cast<float>(static_cast<int>(i)); }
FW_INLINE double toReal(u64 i) { return static_cast<double>(static_cast<i64>(i)); }

// Compilers contract nothing here, and divide and take roots as IEEE says, by their flags
// (-ffp-contract=off; --fmad=false --prec-div=true --prec-sqrt=true --ftz=false).
#if defined(__CUDACC__)
// fma and sqrt are in most kernels, so they are instructions here: for the compiler's own functions
// it links libdevice first.
FW_INLINE float fma(float a, float b, float c) {
  float r;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}
FW_INLINE double fma(double a, double b, double c) {
  double r;
  asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c));
  return r;
}
FW_INLINE float sqrt(float x) {
  float r;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
FW_INLINE double sqrt(double x) {
  double r;
  asm("sqrt.rn.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
FW_INLINE float floor(float x) { return ::floorf(x); }
FW_INLINE double floor(double x) { return ::floor(x); }
FW_INLINE float ceil(float x) { return ::ceilf(x); }
FW_INLINE double ceil(double x) { return ::ceil(x); }
FW_INLINE float trunc(float x) { return ::truncf(x); }
FW_INLINE double trunc(double x) { return ::trunc(x); }
FW_INLINE float roundEven(float x) { return ::rintf(x); }
FW_INLINE double roundEven(double x) { return ::rint(x); }
FW_INLINE u32 mulHigh(u32 a, u32 b) { return ::__umulhi(a, b); }
FW_INLINE u64 mulHigh(u64 a, u64 b) { return ::__umul64hi(a, b); }
#else
FW_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FW_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FW_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
FW_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
FW_INLINE float floor(float x) { return __builtin_floorf(x); }
FW_INLINE double floor(double x) { return __builtin_floor(x); }
FW_INLINE float ceil(float x) { return __builtin_ceilf(x); }
FW_INLINE double ceil(double x) { return __builtin_ceil(x); }
FW_INLINE float trunc(float x) { return __builtin_truncf(x); }
FW_INLINE double trunc(double x) { return __builtin_trunc(x); }
FW_INLINE float roundEven(float x) { return __builtin_rintf(x); } // the mode is to nearest, always
FW_INLINE double roundEven(double x) { return __builtin_rint(x); }
FW_INLINE u32 mulHigh(u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); }
FW_INLINE u64 mulHigh(u64 a, u64 b) {
  return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
}
#endif

FW_INLINE float abs(float x) { return fromBits(bits(x) & 0x7FFFFFFFu); }
FW_INLINE double abs(double x) { return fromBits(bits(x) & ~(u64{1} << 63)); }

template <bool DOUBLE> struct WordOfFormat {
  using Type = u32;
};
template <> struct WordOfFormat<true> {
  using Type = u64;
};

/// Layout of the IEEE format that N stands for.
template <class N> struct Format {
  static constexpr bool DOUBLE = Number<N>::DOUBLE;
  static constexpr int WIDTH = DOUBLE ? 64 : 32;
  static constexpr int MANTISSA = DOUBLE ? 52 : 23; // stored bits
  static constexpr int BIAS = DOUBLE ? 1023 : 127;
  using Word = typename WordOfFormat<DOUBLE>::Type;
  static constexpr Word SIGN = Word{1} << (WIDTH - 1);
  static constexpr Word MIN_NORMAL = Word{1} << MANTISSA;
  static constexpr Word INFINITE = Word{2 * BIAS + 1} << MANTISSA;
  static constexpr Word ONE = Word{BIAS} << MANTISSA;
};

template <class N> FW_INLINE N infinityLike(N x) {
  return fromBits(like(bits(x), Format<N>::INFINITE));
}
template <class N> FW_INLINE auto isNan(N x) { return x != x; }
template <class N> FW_INLINE auto isFinite(N x) {
  return (bits(x) & (Format<N>::SIGN - 1)) < Format<N>::INFINITE;
}
/// 1, -1, x itself for +-0 and NaN.
template <class N> FW_INLINE N sign(N x) {
  const N zero = like(x, 0.0);
  return select(x > zero, like(x, 1.0), select(x < zero, like(x, -1.0), x));
}

/// The larger one; +0 is larger than -0; NaN when either is NaN.
template <class N> FW_INLINE N maxSelected(N a, N b) {
  const N ordered = select(a > b, a, select(b > a, b, fromBits(bits(a) & bits(b))));
  return select(either(isNan(a), isNan(b)), a + b, ordered);
}
/// The smaller one; -0 is smaller than +0; NaN when either is NaN.
template <class N> FW_INLINE N minSelected(N a, N b) {
  const N ordered = select(a < b, a, select(b < a, b, fromBits(bits(a) | bits(b))));
  return select(either(isNan(a), isNan(b)), a + b, ordered);
}
#if defined(__CUDACC__) && FW_HAS_MAX_NAN
FW_INLINE float max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
FW_INLINE float min(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
#else
FW_INLINE float max(float a, float b) { return maxSelected(a, b); }
FW_INLINE float min(float a, float b) { return minSelected(a, b); }
#endif
FW_INLINE double max(double a, double b) { return maxSelected(a, b); }
FW_INLINE double min(double a, double b) { return minSelected(a, b); }

} // namespace fw::math
