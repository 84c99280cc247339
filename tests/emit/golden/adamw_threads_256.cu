// fw_adamw_p_f32_g_f32_m_f32_v_f32_v2
// Scalar program of adamw, in f64:
// [0] u0 = 1 - beta1   E1
// [1] beta1
// [2] u1 = 1 - beta2   E2
// [3] beta2
// [4] c1 = 1 - beta1^t   E3
// [5] c2 = 1 - beta2^t   E3
// [6] eps
// [7] weight_decay
// [8] lr

struct Op {
  static constexpr int V = 2, INFLIGHT = 2, THREADS = 256, BLOCKS = 4, CHUNK = 2048,
                       OPERANDS = 4, SLOTS = 9;
  using Real = float;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<float, W> v_p;
    fw::Raw<float, W> v_g;
    fw::Raw<float, W> v_m;
    fw::Raw<float, W> v_v;
  };
  template <int W> struct Out {
    fw::Raw<float, W> v_p;
    fw::Raw<float, W> v_m;
    fw::Raw<float, W> v_v;
  };
  struct Uniform {
    float v_u0;
    float v_beta1;
    float v_u1;
    float v_beta2;
    float v_c1;
    float v_c2;
    float v_eps;
    float v_weight_decay;
    float v_lr;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    Uniform u;
    u.v_u0 = scalars[0];
    u.v_beta1 = scalars[1];
    u.v_u1 = scalars[2];
    u.v_beta2 = scalars[3];
    u.v_c1 = scalars[4];
    u.v_c2 = scalars[5];
    u.v_eps = scalars[6];
    u.v_weight_decay = scalars[7];
    u.v_lr = scalars[8];
    return u;
  }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.v_p, fw::pointer<float>(pointers, 0), i, policy);
    fw::load<W>(in.v_g, fw::pointer<float>(pointers, 1), i, policy);
    fw::load<W>(in.v_m, fw::pointer<float>(pointers, 2), i, policy);
    fw::load<W>(in.v_v, fw::pointer<float>(pointers, 3), i, policy);
  }
  template <int W>
  static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float in_p = fw::get(in.v_p, k);
      const float in_g = fw::get(in.v_g, k);
      const float in_m = fw::get(in.v_m, k);
      const float in_v = fw::get(in.v_v, k);
      // E1: m = beta1*m + (1 - beta1)*d
      const float v_m = fw::math::fma(u.v_beta1, in_m, u.v_u0 * in_g);
      // E2: v = beta2*v + (1 - beta2)*d^2
      const float v_v = fw::math::fma(u.v_beta2, in_v, u.v_u1 * (in_g * in_g));
      // E4: u = (m/c1) / (sqrt(s/c2) + eps)
      const float v_u = v_m / u.v_c1 / (fw::math::sqrt(v_v / u.v_c2) + u.v_eps);
      // E5: p = p - lr*(u + weight_decay*p)
      const float v_p = fw::math::fma(-u.v_lr, fw::math::fma(u.v_weight_decay, in_p, v_u), in_p);
      fw::set(out.v_p, k, v_p);
      fw::set(out.v_m, k, v_m);
      fw::set(out.v_v, k, v_v);
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.v_p, fw::pointer<float>(pointers, 0), i);
    fw::store<W>(out.v_m, fw::pointer<float>(pointers, 2), i);
    fw::store<W>(out.v_v, fw::pointer<float>(pointers, 3), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
fw_adamw_p_f32_g_f32_m_f32_v_f32_v2(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
