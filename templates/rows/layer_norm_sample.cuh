// A struct as the printer fills it, by hand: y = (x - mean) * rstd * w + b, with mean and rstd
// saved. The mean and the sum of squares about it take one exchange.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/math_power.h"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = true;
  static constexpr int AXES = 1, OPERANDS = 6, SLOTS = 1, EXCHANGES = 1;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 3;
  static constexpr fw::u32 SHARED_OPERANDS = 0b000110, COLUMN_PHASES = 0b10;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> x;
  };
  template <int W> struct Column {
    fw::ColumnRaw<C, W> w, b;
  };
  template <int W> struct Out {
    fw::Raw<Y, W> y;
  };
  struct Uniform {
    Real eps;
  };
  struct Row {
    Real mean, rstd;
  };
  template <int E> using Reference = fw::Accumulators<Real, fw::Sum>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &, const Uniform &, fw::u32, Row &) {}
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
  }
  template <int W>
  static FW_INLINE void loadColumn(Column<W> &column, const Place &place, fw::u32 i) {
    if constexpr (ALIGNED) {
      fw::loadColumn<W>(column.w, fw::pointer<C>(place.pointers, 1), i);
      fw::loadColumn<W>(column.b, fw::pointer<C>(place.pointers, 2), i);
    } else {
      fw::loadColumnShifted<W>(column.w, fw::pointer<C>(place.pointers, 1), i);
      fw::loadColumnShifted<W>(column.b, fw::pointer<C>(place.pointers, 2), i);
    }
  }
  template <int E, int W>
  static FW_INLINE void refer(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &,
                              const Uniform &, Reference<E> &reference) {
#pragma unroll
    for (int k = 0; k < W; ++k)
      fw::accumulate<0>(reference, fw::get(in.x, k));
  }
  template <int E>
  static FW_INLINE void settle(const Reference<E> &reference, Real count, const Uniform &,
                               Row &row) {
    row.mean = count == 0 ? 0 : reference.values[0] / count;
  }
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                            const Uniform &, Acc<E> &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const Real d = fw::get(in.x, k) - row.mean;
      acc.values[0] = fw::math::fma(d, d, acc.values[0]);
    }
  }
  template <int E>
  static FW_INLINE void rebase(Acc<E> &acc, const Row &from, const Row &to, Real count) {
    const Real d = from.mean - to.mean;
    acc.values[0] = fw::math::fma(d * d, count, acc.values[0]);
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
      y[k] = fw::math::fma((fw::get(in.x, k) - row.mean) * row.rstd, fw::get(column.w, k),
                           fw::get(column.b, k));
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 3), i);
  }
  static FW_INLINE void end(const Place &place, const Uniform &, const Row &row) {
    fw::Raw<Real, 1> raw;
    fw::set(raw, 0, row.mean);
    fw::store<1>(raw, fw::pointer<Real>(place.pointers, 4), 0);
    fw::set(raw, 0, row.rstd);
    fw::store<1>(raw, fw::pointer<Real>(place.pointers, 5), 0);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_layer_norm_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
