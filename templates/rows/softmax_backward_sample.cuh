// A struct as the printer fills it, by hand: dx = scale * y * (dy - sum(y * dy)).
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/pack.h"

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 3, SLOTS = 1, EXCHANGES = 1;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 2;
  static constexpr fw::u32 SHARED_OPERANDS = 0, COLUMN_PHASES = 0;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> y, dy;
  };
  template <int W> struct Column {};
  template <int W> struct Out {
    fw::Raw<Y, W> dx;
  };
  struct Uniform {
    Real scale;
  };
  struct Row {
    Real dot;
  };
  template <int E> using Reference = fw::Nothing<Real>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &, const Uniform &, fw::u32, Row &) {}
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.y, fw::pointer<X>(place.pointers, 0), i, policy);
    fw::load<W>(in.dy, fw::pointer<X>(place.pointers, 1), i, policy);
  }
  template <int W> static FW_INLINE void loadColumn(Column<W> &, const Place &, fw::u32) {}
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &,
                            const Uniform &, Acc<E> &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k)
      acc.values[0] = fw::math::fma(fw::get(in.y, k), fw::get(in.dy, k), acc.values[0]);
  }
  template <int E>
  static FW_INLINE void finish(const Acc<E> &acc, const Row &, const Place &, const Uniform &,
                               fw::u32, Row &row) {
    row.dot = acc.values[0];
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                             const Uniform &u, Out<W> &out) {
    Real dx[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      dx[k] = u.scale * fw::get(in.y, k) * (fw::get(in.dy, k) - row.dot);
    fw::pack(out.dx, dx);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.dx, fw::pointer<Y>(place.pointers, 2), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_softmax_backward_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
