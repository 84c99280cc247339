// From list entries to contiguous segments: what a GPU launch walks. Pure.
#pragma once

#include "runtime/launch/Tensors.h"

#include <cstdint>
#include <span>
#include <vector>

namespace fw::plan {

/// A run of one entry: `count` elements that are contiguous in each operand.
struct SegmentPlace {
  size_t group = 0; ///< place in the caller's order
  size_t entry = 0; ///< in the group's list
  int64_t run = 0;  ///< number of the run inside the entry
  uint64_t count = 0;
};

/// Appends the segments of a group's list.
void appendSegments(const launch::TensorList &list, size_t group, std::vector<SegmentPlace> &out);

/// Address of an operand's first element of a segment; 0 where the operand is absent.
uint64_t addressOf(const launch::TensorList &list, const SegmentPlace &segment, size_t operand);
/// The same where the entry's operand stands at `base`.
uint64_t addressOf(const launch::TensorList &list, const SegmentPlace &segment, size_t operand,
                   const void *base);

} // namespace fw::plan
