// Guarded steps of optimizers on either device: one that is skipped changes no byte, one that is
// applied is what the equations by hand give.
#pragma once

#include "tests/gpu/suite/HandSteps.h"
#include "tests/gpu/suite/Trial.h"

namespace suite {

/// Empty tensors, single elements, tails, views; some off by one. At least one element in all.
List randomList(Random &random);

/// What steps are given beside their counter: every scalar that features have, away from 1.
Scalars stepScalars(const Kernel &kernel);

/// A step that its caller leaves out, then steps with a gradient that is inf or NaN, then the step
/// itself, over random lists: a group of each kernel, or more. Kernels are of one HandStep, with
/// the feature guard, and with all.norm in f64 where they have it.
void expectStepsAreSkippedWhole(fw_context *context, Place place,
                                const std::vector<const Kernel *> &kernels, uint64_t seed);

} // namespace suite
