// fw_cast_x_f32_y_bf16_v4

struct Op {
  static constexpr int V = 4, INFLIGHT = 2, THREADS = 512, BLOCKS = 4, CHUNK = 8192,
                       OPERANDS = 2, SLOTS = 0;
  using Real = float;
  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;
  template <int W> struct In {
    fw::Raw<float, W> v_x;
  };
  template <int W> struct Out {
    fw::Raw<fw::bf16, W> v_y;
  };
  struct Uniform {
  };
  static FW_INLINE Uniform uniform(const Real *scalars) {
    Uniform u;
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
      fw::set(out.v_y, k, in_x);
    }
  }
  template <int W>
  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) {
    fw::store<W>(out.v_y, fw::pointer<fw::bf16>(pointers, 1), i);
  }
};

extern "C" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)
fw_cast_x_f32_y_bf16_v4(const __grid_constant__ Op::Launch launch) {
  fw::chunk<Op>(launch);
}
