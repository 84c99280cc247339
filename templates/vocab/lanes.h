// Reductions of neighbouring lanes of a warp that end in all of them.
//
// Order: lanes l and l ^ LANES/2 merge, then l and l ^ LANES/4, and so on to neighbours. Monoids
// are commutative to the bit, so all lanes hold the same result.
#pragma once

#include "templates/vocab/reduce.h"

#if !defined(__CUDACC__)
extern "C" fw::u64 fw_emulator_shuffle_xor(fw::u64 value, unsigned with, int line);
#endif

namespace fw {

/// shfl.bfly of all lanes of a warp, which all come here: lane l gets the `x` of lane l ^ with.
#if defined(__CUDACC__)
FW_INLINE float shuffleXor(float x, u32 with) {
  return __shfl_xor_sync(0xFFFFFFFFu, x, static_cast<int>(with));
}
FW_INLINE double shuffleXor(double x, u32 with) {
  return __shfl_xor_sync(0xFFFFFFFFu, x, static_cast<int>(with));
}
#else
FW_INLINE float shuffleXor(float x, u32 with, int line = __builtin_LINE()) {
  return bitCast<float>(static_cast<u32>(fw_emulator_shuffle_xor(bitCast<u32>(x), with, line)));
}
FW_INLINE double shuffleXor(double x, u32 with, int line = __builtin_LINE()) {
  return bitCast<double>(fw_emulator_shuffle_xor(bitCast<u64>(x), with, line));
}
#endif

/// No reduction, where a place for some is asked for.
template <class N> struct Nothing {
  static constexpr int COUNT = 0;
  using Real = N;
};

/// Merges what the LANES lanes around this one hold, a power of two of them.
template <int LANES, class Acc> FW_INLINE void mergeLanes(Acc &acc) {
  static_assert((LANES & (LANES - 1)) == 0 && LANES <= 32, "a butterfly inside a warp");
  if constexpr (Acc::COUNT > 0) {
#pragma unroll
    for (int by = LANES / 2; by > 0; by /= 2) {
      Acc other;
#pragma unroll
      for (int r = 0; r < Acc::COUNT; ++r)
        other.values[r] = shuffleXor(acc.values[r], static_cast<u32>(by));
      merge(acc, other);
    }
  }
}

} // namespace fw
