// Which memory the tensors of a launch may share.
#pragma once

#include "runtime/launch/Tensors.h"

namespace fw::launch {

/// A list that runs together with others.
struct ListOfRun {
  std::span<const Operand> operands;
  const TensorList *list;
};

/// USAGE when a written tensor shares memory with another tensor of the lists, but for an operand
/// of the same entry that is only read, at the same place, of the same element size and strides:
/// there each element is read before it is written. A number per tensor, or of all, shares with
/// another such number alone. Views are compared byte by byte, so both halves of one tensor may be
/// given; strides so odd that this would take long count as sharing where the ranges of their
/// addresses do. Lists name the same memory for a number of all; with several of them, errors tell
/// the group.
Result<void> checkOverlap(std::span<const ListOfRun> lists);

} // namespace fw::launch
