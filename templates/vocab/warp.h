// What the lanes of a warp hand each other.
#pragma once

#include "templates/vocab/prelude.h"

#if !defined(__CUDACC__)
extern "C" fw::u64 fw_emulator_shuffle_down(fw::u64 value, unsigned by, int line);
extern "C" unsigned fw_emulator_ballot(int predicate, int line);
#endif

namespace fw {

constexpr u32 WARP = 32;

/// shfl.down of all lanes of a warp, which all come here: lane l gets the `x` of lane l + by, and
/// its own where that is none.
#if defined(__CUDACC__)
FW_INLINE float shuffleDown(float x, u32 by) { return __shfl_down_sync(0xFFFFFFFFu, x, by); }
FW_INLINE double shuffleDown(double x, u32 by) { return __shfl_down_sync(0xFFFFFFFFu, x, by); }
#else
FW_INLINE float shuffleDown(float x, u32 by, int line = __builtin_LINE()) {
  return bitCast<float>(static_cast<u32>(fw_emulator_shuffle_down(bitCast<u32>(x), by, line)));
}
FW_INLINE double shuffleDown(double x, u32 by, int line = __builtin_LINE()) {
  return bitCast<double>(fw_emulator_shuffle_down(bitCast<u64>(x), by, line));
}
#endif

/// vote.ballot of all lanes of a warp, which all come here: bit l is what lane l says.
#if defined(__CUDACC__)
FW_INLINE u32 ballot(bool predicate) { return __ballot_sync(0xFFFFFFFFu, predicate); }
FW_INLINE u32 lowestBit(u32 mask) { return static_cast<u32>(__ffs(static_cast<int>(mask)) - 1); }
#else
FW_INLINE u32 ballot(bool predicate, int line = __builtin_LINE()) {
  return fw_emulator_ballot(predicate, line);
}
FW_INLINE u32 lowestBit(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }
#endif

} // namespace fw
