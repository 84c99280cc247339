// Which memory the tensors of a launch over rows may share.
#pragma once

#include "runtime/launch/RowEntries.h"

namespace fw::launch {

/// USAGE where a written tensor shares a byte with another tensor of the list, but for one of the
/// same entry that is only read, at the same place with the same strides: there a row is read
/// before it is written, if the op reads no other place of it.
Result<void> checkRowOverlap(const Program &program, const RowEntries &entries);

} // namespace fw::launch
