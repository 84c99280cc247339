// The words for what a run leaves that the driver stops in its middle.
#pragma once

#include "compiler/support/Error.h"

#include <vector>

namespace fw::plan {

/// Some kernels that write are queued.
Error behindKernels(Error error);
/// All scalars are, and store numbers of tensors or of all.
Error behindScalars(Error error);
/// The scalars of these groups are, and store numbers of their tensors. Nothing is counted.
Error behindScalarsOf(std::vector<size_t> groups, Error error);
/// The count of the step is, and stays.
Error behindCount(Error error);

} // namespace fw::plan
