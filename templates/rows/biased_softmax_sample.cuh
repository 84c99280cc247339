// A struct as the printer fills it, by hand: over [b, h, q; k], the softmax along k of
// scale * x[b, h, q, k] + bias[b, q, k] - slope[h] * |q - k|. Rows stand on three axes, two
// operands are the same along some of them, and places are numbers of the body.
#pragma once

#include "templates/rows/row.cuh"
#include "templates/rows/sample_schedule.cuh"
#include "templates/vocab/math_exponential.h"
#include "templates/vocab/pack.h"

#ifndef FW_ROWS_EXP
#define FW_ROWS_EXP fw::math::exp
#endif

struct Op : SampleSchedule {
  static constexpr bool BOUNDED = false, COUNTED = false;
  static constexpr int AXES = 3, OPERANDS = 4, SLOTS = 1, EXCHANGES = 1;
  static constexpr int LEAD = sizeof(X) > sizeof(Y) ? 0 : 3;
  static constexpr fw::u32 SHARED_OPERANDS = 0, COLUMN_PHASES = 0;
  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Place = fw::RowPlace<Op>;
  template <int W> struct In {
    fw::Raw<X, W> x, bias;
  };
  template <int W> struct Column {};
  template <int W> struct Out {
    fw::Raw<Y, W> y;
  };
  struct Uniform {
    Real scale;
  };
  struct Row {
    Real slope, max, inverse;
  };
  template <int E> using Reference = fw::Accumulators<Real, fw::Max>;
  template <int E> using Acc = fw::Accumulators<Real, fw::Sum>;

  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  static FW_INLINE void begin(const Place &place, const Uniform &, fw::u32, Row &row) {
    fw::Raw<Real, 1> slope;
    fw::load<1>(slope, fw::pointer<Real>(place.pointers, 2), 0, fw::L2::NORMAL);
    row.slope = fw::get(slope, 0);
  }
  template <int E, int W, class Policy>
  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) {
    fw::load<W>(in.x, fw::pointer<X>(place.pointers, 0), i, policy);
    fw::load<W>(in.bias, fw::pointer<X>(place.pointers, 1), i, policy);
  }
  template <int W> static FW_INLINE void loadColumn(Column<W> &, const Place &, fw::u32) {}
  /// What the exponential is taken of, at element k of a vector.
  template <int W>
  static FW_INLINE Real score(const In<W> &in, const Place &place, fw::u32 i, int k, const Row &row,
                              const Uniform &u) {
    const fw::i64 from = static_cast<fw::i64>(place.at[2]), to = static_cast<fw::i64>(i + k);
    const Real far = static_cast<Real>(from > to ? from - to : to - from);
    return fw::math::fma(-row.slope, far,
                         fw::math::fma(u.scale, fw::get(in.x, k), fw::get(in.bias, k)));
  }
  template <int E, int W>
  static FW_INLINE void refer(In<W> &in, const Column<W> &, const Place &place, fw::u32 i,
                              const Row &row, const Uniform &u, Reference<E> &reference) {
#pragma unroll
    for (int k = 0; k < W; ++k)
      fw::accumulate<0>(reference, score<W>(in, place, i, k, row, u));
  }
  template <int E>
  static FW_INLINE void settle(const Reference<E> &reference, Real, const Uniform &, Row &row) {
    row.max = reference.values[0];
  }
  template <int E, int W>
  static FW_INLINE void map(In<W> &in, const Column<W> &, const Place &place, fw::u32 i,
                            const Row &row, const Uniform &u, Acc<E> &acc) {
    const Real about = row.max == -fw::math::infinityLike(Real{0}) ? Real{0} : row.max;
#pragma unroll
    for (int k = 0; k < W; ++k)
      fw::accumulate<0>(acc, FW_ROWS_EXP(score<W>(in, place, i, k, row, u) - about));
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
  static FW_INLINE void emit(In<W> &in, const Column<W> &, const Place &place, fw::u32 i,
                             const Row &row, const Uniform &u, Out<W> &out) {
    Real y[W];
#pragma unroll
    for (int k = 0; k < W; ++k)
      y[k] = FW_ROWS_EXP(score<W>(in, place, i, k, row, u) - row.max) * row.inverse;
    fw::pack(out.y, y);
  }
  template <int W> static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {
    fw::store<W>(out.y, fw::pointer<Y>(place.pointers, 3), i);
  }
  static FW_INLINE void end(const Place &, const Uniform &, const Row &) {}
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_biased_softmax_sample(const __grid_constant__ Op::Launch launch) {
  FW_ROWS_SKELETON<Op>(launch);
}
