// Reductions of the threads of a block: their accumulators, and the tree that merges them.
//
// The order is fixed, so results are the same in every run. A thread merges its elements as it
// comes to them. Lane l of a warp then merges lane l + 16, l + 8, l + 4, l + 2 and l + 1; lane 0
// leaves the warp's result in shared memory, and lane w of warp 0 takes that of warp w (the
// identity where there is none) and merges by the same tree.
#pragma once

#include "templates/vocab/arithmetic.h"
#include "templates/vocab/warp.h"

namespace fw {

struct Sum {
  template <class N> static FW_INLINE N identity() { return N{0}; }
  template <class N> static FW_INLINE N merge(N a, N b) { return a + b; }
};
/// NaN where any element is NaN.
struct Max {
  template <class N> static FW_INLINE N identity() { return -math::infinityLike(N{0}); }
  template <class N> static FW_INLINE N merge(N a, N b) { return math::max(a, b); }
};
struct Min {
  template <class N> static FW_INLINE N identity() { return math::infinityLike(N{0}); }
  template <class N> static FW_INLINE N merge(N a, N b) { return math::min(a, b); }
};

template <int R, class First, class... Rest> struct MonoidAt : MonoidAt<R - 1, Rest...> {};
template <class First, class... Rest> struct MonoidAt<0, First, Rest...> {
  using Type = First;
};

/// What a thread has merged, by reduction; nothing at first.
template <class N, class... Monoids> struct Accumulators {
  static constexpr int COUNT = sizeof...(Monoids);
  using Real = N;
  template <class Other> using As = Accumulators<Other, Monoids...>;
  template <int R> using Monoid = typename MonoidAt<R, Monoids...>::Type;

  N values[COUNT] = {Monoids::template identity<N>()...};
};

/// Merges `x` into reduction R.
template <int R, class Acc> FW_INLINE void accumulate(Acc &acc, typename Acc::Real x) {
  acc.values[R] = Acc::template Monoid<R>::merge(acc.values[R], x);
}

template <int R = 0, class Acc> FW_INLINE void merge(Acc &acc, const Acc &other) {
  if constexpr (R < Acc::COUNT) {
    accumulate<R>(acc, other.values[R]);
    merge<R + 1>(acc, other);
  }
}

/// The tree of a warp; lane 0 gets the result. A loop: unrolled, the trees were half of a kernel's
/// code and of its compile time.
template <class Acc> FW_INLINE void mergeWarp(Acc &acc) {
#pragma unroll 1
  for (u32 by = WARP / 2; by > 0; by /= 2) {
    Acc other;
#pragma unroll
    for (int r = 0; r < Acc::COUNT; ++r)
      other.values[r] = shuffleDown(acc.values[r], by);
    merge(acc, other);
  }
}

/// The tree of a block of THREADS threads; thread 0 gets the result. `exchange`, in shared memory,
/// has room for a number per warp and reduction; a barrier must follow before it is used again.
template <u32 THREADS, class Acc> FW_INLINE void mergeBlock(Acc &acc, double *exchange) {
  static_assert(THREADS % WARP == 0 && THREADS <= WARP * WARP, "whole warps, a lane for each");
  constexpr u32 WARPS = THREADS / WARP;
  const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  mergeWarp(acc);
  if (lane == 0)
#pragma unroll
    for (int r = 0; r < Acc::COUNT; ++r)
      exchange[r * WARPS + warp] = acc.values[r];
  __syncthreads(); // every warp's result is there
  if (warp != 0)
    return;
  acc = Acc();
  if (lane < WARPS)
#pragma unroll
    for (int r = 0; r < Acc::COUNT; ++r)
      acc.values[r] = static_cast<typename Acc::Real>(exchange[r * WARPS + lane]);
  mergeWarp(acc);
}

} // namespace fw
