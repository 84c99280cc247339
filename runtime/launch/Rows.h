// Launches of ops over axes on the CPU: one kernel, called once a row.
#pragma once

#include "runtime/launch/Run.h"

namespace fw::launch {

/// Checks the tensors and runs the program over every row of every list entry. The axis that a row
/// spans is contiguous in each operand; the axes in front of it may have any strides.
Result<void> launchRows(const Program &program, const TensorArray &tensors,
                        const ScalarArray &scalars, const Executor &executor);

} // namespace fw::launch
