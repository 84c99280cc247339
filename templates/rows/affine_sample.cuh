// A struct as the printer fills it, by hand: y = x * w + s, with w of a column and s of a row. One
// pass, and nothing is exchanged.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 4, SLOTS = 1, EXCHANGES = 0;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 3;
  static constexpr fw::u32 SHARED_OPERANDS = 0b0010, COLUMN_PHASES = 0b1;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> x;
  };
  template <int W> struct Column {
    fw::ColumnRaw<C, W> w;
  };
  template <int W> struct Out {
    fw::Raw<Y, W> y;
  };
  struct Uniform {
    Real scale;
  };
  struct Row {
    Real shift;
  };

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &place, const Uniform &u, fw::u32, Row &row) {
    fw::Raw<Real, 1> shift;
    fw::load<1>(shift, fw::pointer<Real>(place.pointers, 2), 0, fw::L2::NORMAL);
    row.shift = u.scale * fw::get(shift, 0);
  }
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
  }
  template <int W>
  static FW_INLINE void loadColumn(Column<W> &column, const Place &place, fw::u32 i) {
    if constexpr (ALIGNED)
      fw::loadColumn<W>(column.w, fw::pointer<C>(place.pointers, 1), i);
    else
      fw::loadColumnShifted<W>(column.w, fw::pointer<C>(place.pointers, 1), i);
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &column, const Place &, fw::u32,
                             const Row &row, const Uniform &, Out<W> &out) {
    Real y[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      y[k] = fw::math::fma(fw::get(in.x, k), fw::get(column.w, k), row.shift);
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 3), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_affine_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
