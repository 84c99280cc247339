// A struct as the printer fills it, by hand: y = x * rsqrt(avg(x^2) + eps) * w, with the root
// saved. It lets the skeleton compile alone: editors, clang-format, compile-only tests and the
// emulator.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/math_power.h"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 4, SLOTS = 1, EXCHANGES = 1;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 2;
  static constexpr fw::u32 SHARED_OPERANDS = 0b0010, COLUMN_PHASES = 0b10;
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
    Real eps;
  };
  struct Row {
    Real rstd;
  };
  template <int E> using Reference = fw::Nothing<Real>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &, const Uniform &, fw::u32, Row &) {}
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
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &,
                            const Uniform &, Acc<E> &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const Real x = fw::get(in.x, k);
      acc.values[0] = fw::math::fma(x, x, acc.values[0]);
    }
  }
  template <int E>
  static FW_INLINE void finish(const Acc<E> &acc, const Row &, const Place &, const Uniform &u,
                               fw::u32 columns, Row &row) {
    row.rstd = fw::math::rsqrt(acc.values[0] / static_cast<Real>(columns) + u.eps);
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &column, const Place &, fw::u32,
                             const Row &row, const Uniform &, Out<W> &out) {
    Real y[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      y[k] = fw::get(in.x, k) * row.rstd * fw::get(column.w, k);
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 2), i);
  }
  static FW_INLINE void end(const Place &place, const Uniform &, const Row &row) {
    fw::Raw<Real, 1> rstd;
    fw::set(rstd, 0, row.rstd);
    fw::store<1>(rstd, fw::pointer<Real>(place.pointers, 3), 0);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_rms_norm_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
