// Splitting a launch into pieces of work: a function of sizes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fw::launch {

/// Elements [first, first + count) of an entry, in the order of its loops.
struct Piece {
  size_t entry = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// Pieces that one thread does in one go: share s is pieces [starts[s], starts[s + 1]).
struct WorkPlan {
  std::vector<Piece> pieces;
  std::vector<size_t> starts = {0};
  size_t shares() const { return starts.size() - 1; }
};

/// Memory of a share, over all operands: large enough to hide what handing it out costs, small
/// enough to spread a launch evenly.
inline constexpr int64_t shareBytes = 1 << 20;
/// Work below this is done by the caller's thread: waking another costs as much.
inline constexpr int64_t inlineBytes = 1 << 18;
/// Pieces start at multiples of this many elements, so that vectors of any dtype stay whole.
inline constexpr int64_t pieceAlignment = 64;

/// Elements of a piece of a pass that reduces, the last one of an entry but for what is left. A
/// piece has one partial result, so sums depend neither on threads nor on anything else but sizes.
inline constexpr int64_t reductionPiece = 1 << 16;

/// `elements` per entry (each > 0), `bytesPerElement` over all operands.
WorkPlan planWork(std::span<const int64_t> elements, int64_t bytesPerElement, unsigned threads);
/// The same for a pass that reduces.
WorkPlan planReduction(std::span<const int64_t> elements, int64_t bytesPerElement,
                       unsigned threads);

} // namespace fw::launch
