// Kernels of pattern `elements` that tools/emulate_bundle.py has compiled for the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "templates/vocab/launch.h"
#include "tests/emulator/Emulator.h"

namespace fw::emulator {

/// One kernel and the constants of its struct Op. A table of these ends with a row without symbol.
struct BundledKernel {
  const char *symbol = nullptr, *file = nullptr;
  int vector = 0, inflight = 0, threads = 0, operands = 0, slots = 0, realBytes = 0;
  void (*enter)(const void *chunks, const u64 *pointers, const void *scalars, u64 policy) = nullptr;
};

/// One block per chunk. `pointers` is [tensor][operands], `scalars` is [row][slots] of float, or of
/// double where realBytes is 8.
inline std::optional<std::string> emulate(const BundledKernel &kernel,
                                          std::span<const Chunk> chunks, const u64 *pointers,
                                          const void *scalars, uint64_t seed) {
  const Launch launch{.grid = static_cast<unsigned>(chunks.size()),
                      .threads = static_cast<unsigned>(kernel.threads),
                      .seed = seed};
  return run(launch, [&] { kernel.enter(chunks.data(), pointers, scalars, L2::NORMAL); });
}

} // namespace fw::emulator

// Used by generated bundles, inside and behind the namespace of a kernel.
#define FW_BUNDLE_ENTRY(symbol)                                                                    \
  inline void enter(const void *chunks, const fw::u64 *pointers, const void *scalars,              \
                    fw::u64 policy) {                                                              \
    symbol(static_cast<const fw::Chunk *>(chunks), pointers,                                       \
           static_cast<const Op::Real *>(scalars), policy);                                        \
  }
#define FW_BUNDLE_ROW(space, symbol, file)                                                         \
  {symbol,                                                                                         \
   file,                                                                                           \
   space::Op::V,                                                                                   \
   space::Op::INFLIGHT,                                                                            \
   space::Op::THREADS,                                                                             \
   space::Op::OPERANDS,                                                                            \
   space::Op::SLOTS,                                                                               \
   sizeof(space::Op::Real),                                                                        \
   space::enter}
