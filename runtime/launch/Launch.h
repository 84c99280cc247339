// A launch on the CPU: check everything, then run the stages over the list.
#pragma once

#include "compiler/support/Threads.h"
#include "runtime/launch/Program.h"
#include "runtime/launch/Run.h"

namespace fw::launch {

/// A one-shot launch: returns when it is done. All checks and allocations come
/// first: a call that fails has written nothing.
Result<void> launch(const Program &program, const TensorArray &tensors, const ScalarArray &scalars,
                    const Executor &executor);

} // namespace fw::launch
