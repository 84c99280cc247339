// A struct as the printer fills it, by hand: y = (x - avg(x)) / max |x - avg(x)|, two exchanges of
// which the second needs the first's result.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 2, SLOTS = 1, EXCHANGES = 2;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 1;
  static constexpr fw::u32 SHARED_OPERANDS = 0, COLUMN_PHASES = 0;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> x;
  };
  template <int W> struct Column {};
  template <int W> struct Out {
    fw::Raw<Y, W> y;
  };
  struct Uniform {
    Real scale;
  };
  struct Row {
    Real mean, size;
  };
  template <int E> struct AccOf;
  template <int E> using Reference = fw::Nothing<Real>;
  template <int E> using Acc = typename AccOf<E>::Type;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &, const Uniform &, fw::u32, Row &) {}
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
  }
  template <int W> static FW_INLINE void loadColumn(Column<W> &, const Place &, fw::u32) {}
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                            const Uniform &, Acc<E> &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const Real x = fw::get(in.x, k);
      fw::accumulate<0>(acc, E == 0 ? x : fw::math::abs(x - row.mean));
    }
  }
  template <int E>
  static FW_INLINE void finish(const Acc<E> &acc, const Row &, const Place &, const Uniform &,
                               fw::u32 columns, Row &row) {
    if constexpr (E == 0)
      row.mean = acc.values[0] / static_cast<Real>(columns);
    else
      row.size = acc.values[0];
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                             const Uniform &u, Out<W> &out) {
    Real y[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      y[k] = u.scale * (fw::get(in.x, k) - row.mean) / row.size;
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 1), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
};
template <> struct Op::AccOf<0> {
  using Type = fw::Accumulators<Real, fw::Sum>;
};
template <> struct Op::AccOf<1> {
  using Type = fw::Accumulators<Real, fw::Max>;
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_centred_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
