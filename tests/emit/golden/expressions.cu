// fw_expressions_float_f32_g_f32_m_bf16_s_f32_v4
// Scalar program of expressions, in f64:
//     root = sqrt(t)   E2
// [0] u0 = root*a
// [1] both = t > 10 and warm
// [2] u1 = root + a

struct Op {
  static constexpr int V = 4, INFLIGHT = 1, THREADS = 256, BLOCKS = 5, CHUNK = 2048,
                       OPERANDS = 4, SLOTS = 3;
  using Real = float;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<float, W> v_float;
    fw::Raw<float, W> v_g;
    fw::Raw<float, W> v_s;
  };
  template <int W> struct Out {
    fw::Raw<float, W> v_float;
    fw::Raw<fw::bf16, W> v_m;
    fw::Raw<float, W> v_s;
  };
  struct Uniform {
    float v_u0;
    bool v_both;
    float v_u1;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    Uniform u;
    u.v_u0 = scalars[0];
    u.v_both = scalars[1] != 0;
    u.v_u1 = scalars[2];
    return u;
  }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.v_float, fw::pointer<float>(pointers, 0), i, policy);
    fw::load<W>(in.v_g, fw::pointer<float>(pointers, 1), i, policy);
    fw::load<W>(in.v_s, fw::pointer<float>(pointers, 3), i, policy);
  }
  template <int W>
  static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float in_float = fw::get(in.v_float, k);
      const float in_g = fw::get(in.v_g, k);
      const float in_s = fw::get(in.v_s, k);
      // E1: m = stored(a - (b - c))
      const float t0 = (in_s - (in_float - in_g)) / (u.v_u0 / 0x1.555556p-2f);
      const float v_new = fw::roundTo<fw::bf16>(t0);
      // E2: comment ? with a backslash and a second line
      const float t1 = (v_new < 0.5f && in_g != fw::bitCast<float>(0x7F800000u)) || u.v_both ? v_new : -(-2.0f);
      const float t2 = -fw::math::abs(fw::math::sigmoid(fw::math::max(fw::math::tanh(t1), u.v_u1)));
      fw::set(out.v_float, k, -t2 / v_new * in_float);
      fw::set(out.v_m, k, t0);
      fw::set(out.v_s, k, 0.5f);
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.v_float, fw::pointer<float>(pointers, 0), i);
    fw::store<W>(out.v_m, fw::pointer<fw::bf16>(pointers, 2), i);
    fw::store<W>(out.v_s, fw::pointer<float>(pointers, 3), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
fw_expressions_float_f32_g_f32_m_bf16_s_f32_v4(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
