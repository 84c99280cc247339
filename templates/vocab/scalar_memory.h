// Numbers of scalar programs in memory, by their type. One text for host and device.
#pragma once

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/scalars_launch.h"

namespace fw {

/// f32 and f64.
template <class T> struct RealCell {
  using Number = T;
  static FW_INLINE T load(u64 address) { return *reinterpret_cast<const T *>(address); }
  static FW_INLINE void store(u64 address, T x) { *reinterpret_cast<T *>(address) = x; }
  static FW_INLINE T from(double x) { return static_cast<T>(x); }
  static FW_INLINE T plus(T x, int by) { return x + static_cast<T>(by); }
};

/// f16 and bf16.
template <class T> struct NarrowCell {
  using Number = float;
  static FW_INLINE float load(u64 address) {
    return Codec<T>::decode(*reinterpret_cast<const u16 *>(address));
  }
  static FW_INLINE void store(u64 address, float x) {
    *reinterpret_cast<u16 *>(address) = Codec<T>::encode(x);
  }
  static FW_INLINE float from(double x) { return Codec<T>::decode(Codec<T>::encode(x)); }
  static FW_INLINE float plus(float x, int by) { return roundTo<T>(x + static_cast<float>(by)); }
};

/// i32 and i64: NaN becomes 0, what is too large the largest, and sums wrap.
template <class T, class Unsigned> struct WholeCell {
  using Number = T;
  static FW_INLINE T load(u64 address) { return *reinterpret_cast<const T *>(address); }
  static FW_INLINE void store(u64 address, T x) { *reinterpret_cast<T *>(address) = x; }
  static FW_INLINE T from(double x) {
    constexpr Unsigned HALF = Unsigned{1} << (8 * sizeof(T) - 1);
    constexpr double END = static_cast<double>(HALF);
    if (x != x)
      return 0;
    return x >= END    ? static_cast<T>(HALF - 1)
           : x <= -END ? static_cast<T>(HALF)
                       : static_cast<T>(x);
  }
  static FW_INLINE T plus(T x, int by) {
    return static_cast<T>(static_cast<Unsigned>(x) + static_cast<Unsigned>(by));
  }
};

/// Calls `visit` with the cell of `type`.
template <class Visit> FW_INLINE void visitCell(ScalarType type, Visit visit) {
  switch (type) {
  case ScalarType::F32:
    return visit(RealCell<float>());
  case ScalarType::F64:
    return visit(RealCell<double>());
  case ScalarType::F16:
    return visit(NarrowCell<f16>());
  case ScalarType::BF16:
    return visit(NarrowCell<bf16>());
  case ScalarType::I32:
    return visit(WholeCell<int, u32>());
  case ScalarType::I64:
    return visit(WholeCell<i64, u64>());
  }
}

FW_INLINE double readScalar(const ScalarSource &source) {
  double value = source.value;
  if (source.address != 0)
    visitCell(source.type, [&](auto cell) {
      const auto number = cell.load(source.address);
      value = static_cast<double>(source.advance ? cell.plus(number, 1) : number);
    });
  return value;
}

/// `value` rounded once to the type.
FW_INLINE void writeScalar(ScalarType type, u64 address, double value) {
  visitCell(type, [&](auto cell) { cell.store(address, cell.from(value)); });
}

FW_INLINE void countScalar(const ScalarCounter &counter, int by) {
  visitCell(counter.type, [&](auto cell) {
    cell.store(counter.address, cell.plus(cell.load(counter.address), by));
  });
}

} // namespace fw
