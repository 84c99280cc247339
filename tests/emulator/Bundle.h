// Kernels that tools/emulate_bundle.py has compiled for the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/emulator/Emulator.h"

namespace fw::emulator {

/// One kernel and the constants of its struct Op. A table of these ends with a row without symbol.
struct BundledKernel {
  const char *symbol = nullptr, *file = nullptr;
  int vector = 0, inflight = 0, threads = 0, chunk = 0, operands = 0, slots = 0, realBytes = 0;
  size_t parameterBytes = 0;
  void (*enter)(const void *parameter) = nullptr;
  int columns = 0, rowsPerBlock = 0; ///< of pattern `rows`
};

/// What an Op has of these constants, which its pattern decides.
template <class Op>
constexpr BundledKernel bundledKernel(const char *symbol, const char *file,
                                      void (*enter)(const void *)) {
  BundledKernel kernel{.symbol = symbol,
                       .file = file,
                       .vector = Op::V,
                       .threads = Op::THREADS,
                       .operands = Op::OPERANDS,
                       .slots = Op::SLOTS,
                       .realBytes = sizeof(typename Op::Real),
                       .parameterBytes = sizeof(typename Op::Launch),
                       .enter = enter};
  if constexpr (requires { Op::INFLIGHT; })
    kernel.inflight = Op::INFLIGHT;
  if constexpr (requires { Op::CHUNK; })
    kernel.chunk = Op::CHUNK;
  if constexpr (requires { Op::THREADS_PER_ROW; }) {
    kernel.columns = Op::COLUMNS;
    kernel.rowsPerBlock = Op::THREADS / Op::THREADS_PER_ROW * Op::ROWS_PER_THREAD;
  }
  return kernel;
}

/// `parameter` holds the kernel's Launch, with addresses of host memory.
inline std::optional<std::string> emulate(const BundledKernel &kernel, uint64_t blocks,
                                          const void *parameter, uint64_t seed) {
  const Launch launch{.grid = static_cast<unsigned>(blocks),
                      .threads = static_cast<unsigned>(kernel.threads),
                      .seed = seed};
  return run(launch, [&] { kernel.enter(parameter); });
}

} // namespace fw::emulator

// Used by generated bundles, inside and behind the namespace of a kernel.
#define FW_BUNDLE_ENTRY(symbol)                                                                    \
  inline void enter(const void *parameter) { symbol(*static_cast<const Op::Launch *>(parameter)); }
#define FW_BUNDLE_ROW(space, symbol, file)                                                         \
  ::fw::emulator::bundledKernel<space::Op>(symbol, file, space::enter)
