// Kernels of loaded code as functions of a context.
#pragma once

#include "tests/driver/fake/State.h"

namespace fw::driver::fake {

/// Brings a function's code to the device, where it is not yet.
CUresult load(Call &call, LoadedFunction &function);

/// A kernel as a function of the current context.
CUresult functionOf(Call &call, const std::shared_ptr<Kernel> &kernel,
                    std::shared_ptr<LoadedFunction> &function);

} // namespace fw::driver::fake
