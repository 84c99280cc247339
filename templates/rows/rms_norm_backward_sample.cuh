// A struct as the printer fills it, by hand: dx = rstd * (w*dy - x * rstd^2 * avg(w*dy*x)), the
// gradient of an rms norm for its input. The root was saved by the forward kernel.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 5, SLOTS = 1, EXCHANGES = 1;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 4;
  static constexpr fw::u32 SHARED_OPERANDS = 0b00100, COLUMN_PHASES = 0b11;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> x, dy;
  };
  template <int W> struct Column {
    fw::ColumnRaw<C, W> w;
  };
  template <int W> struct Out {
    fw::Raw<Y, W> dx;
  };
  struct Uniform {
    Real scale;
  };
  struct Row {
    Real rstd, by;
  };
  template <int E> using Reference = fw::Nothing<Real>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &place, const Uniform &, fw::u32, Row &row) {
    fw::Raw<Real, 1> rstd;
    fw::load<1>(rstd, fw::pointer<Real>(place.pointers, 3), 0, fw::L2::NORMAL);
    row.rstd = fw::get(rstd, 0);
  }
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
    fw::load<W>(in.dy, fw::pointer<X>(place.pointers, 1), i, policy);
  }
  template <int W>
  static FW_INLINE void loadColumn(Column<W> &column, const Place &place, fw::u32 i) {
    if constexpr (ALIGNED)
      fw::loadColumn<W>(column.w, fw::pointer<C>(place.pointers, 2), i);
    else
      fw::loadColumnShifted<W>(column.w, fw::pointer<C>(place.pointers, 2), i);
  }
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &column, const Place &, fw::u32, const Row &,
                            const Uniform &, Acc<E> &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k)
      acc.values[0] =
          fw::math::fma(fw::get(in.dy, k) * fw::get(column.w, k), fw::get(in.x, k), acc.values[0]);
  }
  template <int E>
  static FW_INLINE void finish(const Acc<E> &acc, const Row &, const Place &, const Uniform &,
                               fw::u32 columns, Row &row) {
    row.by = acc.values[0] / static_cast<Real>(columns) * row.rstd * row.rstd;
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &column, const Place &, fw::u32,
                             const Row &row, const Uniform &u, Out<W> &out) {
    Real dx[W];
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const Real dy = fw::get(in.dy, k) * fw::get(column.w, k);
      dx[k] = u.scale * row.rstd * fw::math::fma(-fw::get(in.x, k), row.by, dy);
    }
    fw::pack(out.dx, dx);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.dx, fw::pointer<Y>(place.pointers, 4), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_rms_norm_backward_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
