// How a storage dtype becomes a number and back. Codec<T> holds
//   Bits     the storage word            Real     the type its numbers are computed in
//   decode   Bits -> Real, exact         encode   float or double -> Bits, rounded once, to even
// f32 and f64 stand here; the narrow dtypes add themselves in headers of their own.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

template <class T> struct Codec;

template <> struct Codec<float> {
  using Bits = u32;
  using Real = float;
  static FW_INLINE float decode(u32 bits) { return bitCast<float>(bits); }
  static FW_INLINE u32 encode(float x) { return bitCast<u32>(x); }
  static FW_INLINE u32 encode(double x) { return bitCast<u32>(static_cast<float>(x)); }
};

template <> struct Codec<double> {
  using Bits = u64;
  using Real = double;
  static FW_INLINE double decode(u64 bits) { return bitCast<double>(bits); }
  static FW_INLINE u64 encode(double x) { return bitCast<u64>(x); }
};

/// What storing `x` as a T and loading it again gives.
template <class T, class Real> FW_INLINE Real roundTo(Real x) {
  return static_cast<Real>(Codec<T>::decode(Codec<T>::encode(x)));
}

} // namespace fw
