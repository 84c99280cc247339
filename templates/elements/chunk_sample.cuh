// A struct as the printer fills it, by hand: an optimizer with two f32 moments and a bf16 gradient.
// It lets the skeleton compile alone: editors, clang-format, compile-only tests and the emulator.
#pragma once

#include "templates/elements/chunk.cuh"
#include "templates/vocab/arithmetic.h"
#include "templates/vocab/bf16.h"

struct Op {
  static constexpr int V = 4, INFLIGHT = 2, THREADS = 512, CHUNK = 8192, OPERANDS = 4, SLOTS = 7;
  using Real = float;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<float, W> p;
    fw::Raw<fw::bf16, W> g;
    fw::Raw<float, W> m;
    fw::Raw<float, W> v;
  };
  template <int W> struct Out {
    fw::Raw<float, W> p;
    fw::Raw<float, W> m;
    fw::Raw<float, W> v;
  };
  struct Uniform {
    float step, beta1, beta2, inverse1, inverse2, eps, decay;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    return {scalars[0], scalars[1], scalars[2], scalars[3], scalars[4], scalars[5], scalars[6]};
  }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.p, fw::pointer<float>(pointers, 0), i, policy);
    fw::load<W>(in.g, fw::pointer<fw::bf16>(pointers, 1), i, policy);
    fw::load<W>(in.m, fw::pointer<float>(pointers, 2), i, policy);
    fw::load<W>(in.v, fw::pointer<float>(pointers, 3), i, policy);
  }
  template <int W> static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float p = fw::get(in.p, k);
      const float g = fw::get(in.g, k);
      const float m = fw::math::fma(u.beta1, fw::get(in.m, k), (1.0f - u.beta1) * g);
      const float v = fw::math::fma(u.beta2, fw::get(in.v, k), (1.0f - u.beta2) * g * g);
      const float move = m * u.inverse1 / (fw::math::sqrt(v * u.inverse2) + u.eps);
      fw::set(out.m, k, m);
      fw::set(out.v, k, v);
      fw::set(out.p, k, p - u.step * (move + u.decay * p));
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.p, fw::pointer<float>(pointers, 0), i);
    fw::store<W>(out.m, fw::pointer<float>(pointers, 2), i);
    fw::store<W>(out.v, fw::pointer<float>(pointers, 3), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS)
    fw_sample(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
