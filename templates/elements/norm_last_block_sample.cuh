// A struct as the printer fills it, by hand: four reductions of a bf16 gradient and an f32
// parameter, and a scalar program that makes a clip factor and a bias correction. It lets the
// skeleton compile alone: editors, clang-format, compile-only tests and the emulator.
#pragma once

#include "templates/elements/norm_last_block.cuh"
#include "templates/vocab/bf16.h"
#include "templates/vocab/math_power.h"

struct Op {
  static constexpr int V = 4, INFLIGHT = 4, THREADS = 512, BLOCKS = 2, CHUNK = 16384, OPERANDS = 2,
                       SLOTS = 1;
  using Real = float;
  using Launch = fw::ReduceLaunch<OPERANDS, SLOTS, Real>;
  using Acc = fw::Accumulators<Real, fw::Sum, fw::Max, fw::Sum, fw::Min>;
  static constexpr fw::u32 PER_TENSOR = 0b0110;
  template <int W> struct In {
    fw::Raw<fw::bf16, W> g;
    fw::Raw<float, W> p;
  };
  struct Uniform {
    float scale;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) { return {scalars[0]}; }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.g, fw::pointer<fw::bf16>(pointers, 0), i, policy);
    fw::load<W>(in.p, fw::pointer<float>(pointers, 1), i, policy);
  }
  template <int W> static FW_INLINE void map(const In<W> &in, const Uniform &u, Acc &acc) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float g = fw::get(in.g, k) * u.scale;
      const float p = fw::get(in.p, k);
      fw::accumulate<0>(acc, g * g);
      fw::accumulate<1>(acc, fw::math::abs(p));
      fw::accumulate<2>(acc, p * p);
      fw::accumulate<3>(acc, p);
    }
  }
  static FW_INLINE double scalar(fw::ScalarCode code, double a, double b, double c) {
    switch (code) {
    case fw::ScalarCode::add:
      return a + b;
    case fw::ScalarCode::sub:
      return a - b;
    case fw::ScalarCode::mul:
      return (a * b);
    case fw::ScalarCode::div:
      return a / b;
    case fw::ScalarCode::min:
      return fw::math::min(a, b);
    case fw::ScalarCode::sqrt:
      return fw::math::sqrt(a);
    case fw::ScalarCode::pow_int:
      return fw::math::power(a, fw::math::wholeNumber(b));
    case fw::ScalarCode::isfinite:
      return fw::math::isFinite(a);
    case fw::ScalarCode::not_:
      return a == 0;
    case fw::ScalarCode::select:
      return a != 0 ? b : c;
    default:
      return 0;
    }
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
    fw_norm_sample(const __grid_constant__ Op::Launch launch) {
  fw::normLastBlock<Op>(launch);
}
