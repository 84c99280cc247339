// How a bare kernel reads memory: the shapes that a hand would try.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fw::bench {

/// One block of threads reads `blockBytes`, each thread with `inflight` loads of 16 bytes under
/// way.
struct ReadShape {
  int threads, inflight;
  uint64_t blockBytes;
  bool keepsLast; ///< L2 policy evict_last, as plans load long lists

  static std::span<const ReadShape> all();
  std::string text() const;
  std::string symbol() const;
};

/// What a kernel of any shape takes.
struct ReadLaunch {
  static constexpr uint64_t vectorBytes = 16;
  uint64_t address, vectors, policy;
  uint64_t sink; ///< address of a word that nobody else needs
};

} // namespace fw::bench
