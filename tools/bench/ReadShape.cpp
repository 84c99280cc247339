#include "tools/bench/ReadShape.h"

namespace fw::bench {

std::span<const ReadShape> ReadShape::all() {
  constexpr uint64_t kib = 1024;
  static constexpr ReadShape shapes[] = {
      {512, 4, 256 * kib, true}, {512, 4, 256 * kib, false}, {512, 8, 256 * kib, true},
      {256, 8, 128 * kib, true}, {256, 4, 64 * kib, true},   {1024, 4, 256 * kib, true},
  };
  return shapes;
}

std::string ReadShape::text() const {
  return std::to_string(threads) + " threads, " + std::to_string(inflight) +
         " x 16 bytes in flight, blocks of " + std::to_string(blockBytes >> 10) + " KiB" +
         (keepsLast ? ", evict_last" : "");
}

std::string ReadShape::symbol() const {
  return "fw_bench_read_" + std::to_string(threads) + "x" + std::to_string(inflight) + "_" +
         std::to_string(blockBytes >> 10) + "k" + (keepsLast ? "_last" : "");
}

} // namespace fw::bench
