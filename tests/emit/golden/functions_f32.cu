// fw_functions_x_f32_y_f32_v4
// Scalar program of functions, in f64:
//     s0 = trunc(round(ceil(floor(abs(a)))))   E3
//     s1 = expm1(exp2(exp(rsqrt(sqrt(s0)))))   E3
//     s2 = erf(tanh(log1p(log2(log(s1)))))   E3
//     s3 = sigmoid(sign(cos(sin(s2))))^n   E3
// [0] scale = s3*n   E3
// [1] when = (n < 10 and n <= 10) != (n > 10 or n >= 10)

struct Op {
  static constexpr int V = 4, INFLIGHT = 2, THREADS = 512, BLOCKS = 4, CHUNK = 8192,
                       OPERANDS = 2, SLOTS = 2;
  using Real = float;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<float, W> v_x;
  };
  template <int W> struct Out {
    fw::Raw<float, W> v_y;
  };
  struct Uniform {
    float v_scale;
    bool v_when;
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    Uniform u;
    u.v_scale = scalars[0];
    u.v_when = scalars[1] != 0;
    return u;
  }
  template <int W>
  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 policy) {
    fw::load<W>(in.v_x, fw::pointer<float>(pointers, 0), i, policy);
  }
  template <int W>
  static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float in_x = fw::get(in.v_x, k);
      // E1: every function of x
      const float t0 = fw::math::abs(in_x) + fw::math::floor(in_x) + fw::math::ceil(in_x) + fw::math::roundEven(in_x);
      const float t1 = t0 + fw::math::trunc(in_x) + fw::math::sqrt(in_x) + fw::math::rsqrt(in_x) + fw::math::exp(in_x);
      const float t2 = t1 + fw::math::exp2(in_x) + fw::math::expm1(in_x) + fw::math::log(in_x) + fw::math::log2(in_x);
      const float t3 = t2 + fw::math::log1p(in_x) + fw::math::tanh(in_x) + fw::math::erf(in_x) + fw::math::sin(in_x);
      const float t4 = fw::math::fma(in_x, in_x, t3 + fw::math::cos(in_x) + fw::math::sign(in_x) + fw::math::sigmoid(in_x));
      const float v_all = fw::math::min(fw::math::max(t4, in_x), in_x);
      // E2: every relation
      const bool t5 = ((v_all < in_x && v_all <= in_x) || v_all > in_x) != (v_all >= in_x) && v_all == in_x;
      const bool t6 = fw::math::isFinite(in_x) != fw::math::isNan(in_x);
      const bool v_truth = ((v_all != in_x || t5) == t6) != t6;
      fw::set(out.v_y, k, u.v_when ? (v_truth ? v_all * u.v_scale : in_x) : in_x);
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.v_y, fw::pointer<float>(pointers, 1), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
fw_functions_x_f32_y_f32_v4(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
