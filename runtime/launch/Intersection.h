// Whether two views hold a byte in common.
#pragma once

#include "runtime/launch/Tensors.h"

#include <utility>

namespace fw::launch {

/// Runs of bytes at the places that loops give; an operand's strides of each loop count.
struct View {
  uintptr_t address;
  uint64_t runBytes;
  std::span<const Loop> loops;
  size_t operand;
};

/// The first byte and the one after the last.
std::pair<uintptr_t, uintptr_t> addressRange(const View &view);

/// Compares pairs of views; keeps its memory from one pair to the next.
class Intersection {
public:
  /// True when a byte belongs to both, and when this could not be told in a bounded number of
  /// steps.
  bool of(const View &a, const View &b);

private:
  /// Wide enough for sums of products of a caller's numbers.
  __extension__ using Wide = __int128;

  /// Any number of strides from `low` to `high`.
  struct Term {
    Wide stride; ///< > 0
    Wide low, high;
    Wide least = 0, most = 0; ///< sums of this term and those after it
  };

  void addLoops(const View &view, int sign);
  void addSums();
  bool reaches(Wide distance, size_t i = 0);
  Wide least(size_t i) const { return i < terms.size() ? terms[i].least : 0; }
  Wide most(size_t i) const { return i < terms.size() ? terms[i].most : 0; }

  std::vector<Term> terms;  ///< the longest stride first
  Wide first = 0, last = 0; ///< distances at which two runs meet
  int steps = 0;
};

} // namespace fw::launch
