// fw_sgd_p_f64_g_f32_m_f64_v2
// Scalar program of sgd, in f64:
// [0] momentum
// [1] lr

struct Op {
  static constexpr int V = 2, INFLIGHT = 1, THREADS = 256, BLOCKS = 3, CHUNK = 1024,
                       OPERANDS = 3, SLOTS = 2;
  using Real = double;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<double, W> v_p;
    fw::Raw<float, W> v_g;
    fw::Raw<double, W> v_m;
  };
  template <int W> struct Out {
    fw::Raw<double, W> v_p;
    fw::Raw<double, W> v_m;
  };
  struct Uniform {
    double v_momentum;
    double v_lr;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    Uniform u;
    u.v_momentum = scalars[0];
    u.v_lr = scalars[1];
    return u;
  }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.v_p, fw::pointer<double>(pointers, 0), i, policy);
    fw::load<W>(in.v_g, fw::pointer<float>(pointers, 1), i, policy);
    fw::load<W>(in.v_m, fw::pointer<double>(pointers, 2), i, policy);
  }
  template <int W>
  static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const double in_p = fw::get(in.v_p, k);
      const double in_g = static_cast<double>(fw::get(in.v_g, k));
      const double in_m = fw::get(in.v_m, k);
      // E1: m = momentum*m + g
      const double v_m = fw::math::fma(u.v_momentum, in_m, in_g);
      // E2: p = p - lr*m
      const double v_p = fw::math::fma(-u.v_lr, v_m, in_p);
      fw::set(out.v_p, k, v_p);
      fw::set(out.v_m, k, v_m);
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.v_p, fw::pointer<double>(pointers, 0), i);
    fw::store<W>(out.v_m, fw::pointer<double>(pointers, 2), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
fw_sgd_p_f64_g_f32_m_f64_v2(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
