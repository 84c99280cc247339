// A struct as the printer fills it, by hand: y = exp(scale*x - max) / sum, plain or with what lies
// behind the diagonal of square matrices left out. Maximum and sum take one exchange.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/math_exponential.h"
#include "templates/vocab/pack.h"

#ifndef FW_ROWS_EXP
#define FW_ROWS_EXP fw::math::exp
#define FW_ROWS_CAUSAL false
#endif

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = FW_ROWS_CAUSAL, COUNTED = false;
  static constexpr int AXES = 1, OPERANDS = 2, SLOTS = 1, EXCHANGES = 1;
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
    Real max, inverse;
  };
  template <int E> using Reference = fw::Accumulators<Real, fw::Max>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &, const Uniform &, fw::u32, Row &) {}
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
  }
  template <int W> static FW_INLINE void loadColumn(Column<W> &, const Place &, fw::u32) {}
  template <int E, int W>
  static FW_INLINE void refer(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &,
                              const Uniform &u, Reference<E> &reference) {
#pragma unroll
    for (int k = 0; k < W; ++k)
      fw::accumulate<0>(reference, u.scale * fw::get(in.x, k));
  }
  template <int E>
  static FW_INLINE void settle(const Reference<E> &reference, Real, const Uniform &, Row &row) {
    row.max = reference.values[0];
  }
  /// About 0 where the thread has seen nothing but -inf: its exponentials are 0 then.
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                            const Uniform &u, Acc<E> &acc) {
    const Real about = row.max == -fw::math::infinityLike(Real{0}) ? Real{0} : row.max;
#pragma unroll
    for (int k = 0; k < W; ++k)
      fw::accumulate<0>(acc, FW_ROWS_EXP(u.scale * fw::get(in.x, k) - about));
  }
  template <int E> static FW_INLINE void rebase(Acc<E> &acc, const Row &from, const Row &to, Real) {
    const Real by = FW_ROWS_EXP(from.max - to.max);
    acc.values[0] = from.max == -fw::math::infinityLike(Real{0}) ? Real{0} : acc.values[0] * by;
  }
  template <int E>
  static FW_INLINE void finish(const Acc<E> &acc, const Row &, const Place &, const Uniform &,
                               fw::u32, Row &row) {
    row.inverse = Real{1} / acc.values[0];
  }
  template <int W>
  static FW_INLINE void emit(In<W> &in, const Column<W> &, const Place &, fw::u32, const Row &row,
                             const Uniform &u, Out<W> &out) {
    Real y[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      y[k] = FW_ROWS_EXP(u.scale * fw::get(in.x, k) - row.max) * row.inverse;
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 1), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
  static FW_INLINE fw::u32 first(const Place &, const Row &, const Uniform &, fw::u32) { return 0; }
  static FW_INLINE fw::u32 last(const Place &place, const Row &, const Uniform &, fw::u32 columns) {
    return static_cast<fw::u32>(place.row % columns) + 1;
  }
  template <int W> static FW_INLINE void neutral(In<W> &in, int k) {
    fw::put(in.x, k, -fw::math::infinityLike(Real{0}));
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_softmax_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
