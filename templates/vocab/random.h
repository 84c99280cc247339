// Philox4x32-10 (Salmon et al. 2011), the only source of random bits: one text for GPU, emulator,
// CPU and reference. An element takes 16 bits, whatever vector, block or rank it is computed in.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

struct Philox {
  u32 words[4];
};

FW_INLINE Philox philox(u64 key, u32 c0, u32 c1, u32 c2, u32 c3) {
  u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 a = static_cast<u64>(0xD2511F53u) * c0, b = static_cast<u64>(0xCD9E8D57u) * c2;
    const u32 n0 = static_cast<u32>(b >> 32) ^ c1 ^ k0, n2 = static_cast<u32>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<u32>(b);
    c3 = static_cast<u32>(a);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// 16 bits of element number `element` for call number `draw` of a launch: eight elements share a
/// counter, and take the half words of its result from the lowest bits of the first word up.
FW_INLINE u32 drawBits(u64 seed, u64 element, u32 offset, u32 draw) {
  const u64 block = element / 8;
  const Philox drawn =
      philox(seed, static_cast<u32>(block), static_cast<u32>(block >> 32), offset, draw);
  const u32 half = static_cast<u32>(element % 8);
  return drawn.words[half / 2] >> (half % 2 * 16) & 0xffffu;
}

/// drawBits of elements `first`, first + 1, ...: one counter for each eight of them.
template <int W>
FW_INLINE void drawVector(u32 (&bits)[W], u64 seed, u64 first, u32 offset, u32 draw) {
  u64 block = first / 8;
  Philox drawn = philox(seed, static_cast<u32>(block), static_cast<u32>(block >> 32), offset, draw);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const u64 element = first + static_cast<u64>(k);
    if (element / 8 != block) {
      block = element / 8;
      drawn = philox(seed, static_cast<u32>(block), static_cast<u32>(block >> 32), offset, draw);
    }
    const u32 half = static_cast<u32>(element % 8);
    const u32 low = half & 2 ? drawn.words[1] : drawn.words[0];
    const u32 high = half & 2 ? drawn.words[3] : drawn.words[2];
    bits[k] = (half & 4 ? high : low) >> (half % 2 * 16) & 0xffffu;
  }
}

} // namespace fw
