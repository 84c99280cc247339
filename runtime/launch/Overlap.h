// Which memory the tensors of a launch may share.
#pragma once

#include "runtime/launch/Tensors.h"

namespace fw::launch {

/// USAGE when a written dense tensor shares memory with another dense tensor of the list, but for
/// an operand of the same entry that is only read, at the same place and of the same element size:
/// there each element is read before it is written. Views with loops are not looked at.
Result<void> checkOverlap(std::span<const Operand> operands, const TensorList &list);

} // namespace fw::launch
