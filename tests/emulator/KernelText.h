// What CUDA text finds predefined, for the host. Include it before the text of kernels; the text
// may stand inside a namespace.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "tests/emulator/Emulator.h"

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
#define threadIdx (::fw::emulator::threadIndex())
#define blockIdx (::fw::emulator::blockIndex())
#define blockDim (::fw::emulator::blockSize())
#define gridDim (::fw::emulator::gridSize())

namespace fw::emulator {

struct Index {
  unsigned x, y = 0, z = 0;
};
struct Size {
  unsigned x, y = 1, z = 1;
};
Index threadIndex();
Index blockIndex();
Size blockSize();
Size gridSize();

/// Waits until `threads` threads of the block are at barrier `id`; 0 means all of them. The line is
/// that of the caller, for the report of a stuck block.
void barrier(unsigned id, unsigned threads, int line);

enum class WarpOp { SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, BALLOT, SYNC };
/// Exchanges `value` among the lanes of `mask`, which must all come here with the same operation.
uint64_t warp(WarpOp op, unsigned mask, uint64_t value, int argument, int width, int line);

/// Lets other threads have a turn, by chance: no two instructions of a thread belong together.
void maybeYield();

template <class T> T shuffle(WarpOp op, unsigned mask, T value, int argument, int width, int line) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp(op, mask, bits, argument, width, line);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// *address becomes next(*address); the old value.
template <class T, class F> T atomically(T *address, F next) {
  maybeYield();
  const T old = *address;
  *address = next(old);
  maybeYield();
  return old;
}

} // namespace fw::emulator

inline void __syncthreads(int line = __builtin_LINE()) { fw::emulator::barrier(0, 0, line); }
inline void __threadfence() {} // one turn at a time: what was written is seen
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  fw::emulator::warp(fw::emulator::WarpOp::SYNC, mask, 0, 0, 32, line);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, int line = __builtin_LINE()) {
  return fw::emulator::shuffle(fw::emulator::WarpOp::SHUFFLE, mask, value, lane, width, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, int line = __builtin_LINE()) {
  return fw::emulator::shuffle(fw::emulator::WarpOp::SHUFFLE_UP, mask, value, by, width, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32,
                   int line = __builtin_LINE()) {
  return fw::emulator::shuffle(fw::emulator::WarpOp::SHUFFLE_DOWN, mask, value, by, width, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, int line = __builtin_LINE()) {
  return fw::emulator::shuffle(fw::emulator::WarpOp::SHUFFLE_XOR, mask, value, with, width, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return static_cast<unsigned>(
      fw::emulator::warp(fw::emulator::WarpOp::BALLOT, mask, predicate != 0, 0, 32, line));
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) == mask;
}

template <class T> T atomicAdd(T *address, T value) {
  return fw::emulator::atomically(address, [&](T old) { return static_cast<T>(old + value); });
}
template <class T> T atomicMax(T *address, T value) {
  return fw::emulator::atomically(address, [&](T old) { return old > value ? old : value; });
}
template <class T> T atomicExch(T *address, T value) {
  return fw::emulator::atomically(address, [&](T) { return value; });
}
template <class T> T atomicCAS(T *address, T expected, T value) {
  return fw::emulator::atomically(address, [&](T old) { return old == expected ? value : old; });
}
/// A ticket that resets itself: counts 0, 1 ... last, 0 ...
inline unsigned atomicInc(unsigned *address, unsigned last) {
  return fw::emulator::atomically(address, [&](unsigned old) { return old >= last ? 0 : old + 1; });
}
