// Which memory the tensors of a launch may share.
#pragma once

#include "runtime/launch/Tensors.h"

namespace fw::launch {

/// USAGE when a written tensor shares memory with another tensor of the list, but for an operand of
/// the same entry that is only read, at the same place, of the same element size and strides: there
/// each element is read before it is written. A number per tensor, or of all, shares
/// with another such number alone. Views are compared byte by byte, so both
/// halves of one tensor may be given; strides so odd that this would take long count as sharing
/// where the ranges of their addresses do.
Result<void> checkOverlap(std::span<const Operand> operands, const TensorList &list);

} // namespace fw::launch
