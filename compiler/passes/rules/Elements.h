// The rules that schedule the skeletons of pattern `elements`, without MLIR.
#pragma once

#include "compiler/passes/rules/Decisions.h"

#include <vector>

namespace fw::passes {

struct ElementsStreams : std::vector<OperandStream> {
  using vector::vector;
  int64_t reductions = 0; ///< of which a thread keeps what it has found
};

/// What it asks of an arch.
struct ElementsLimits {
  int64_t registersPerSm;
  int64_t registersPerThread;
  int64_t threadsPerSm;
  int64_t threadsPerBlock;
};

/// The decisions, named as in schedule.def.
struct ElementsSchedule {
  int64_t threads;
  int64_t vec;
  int64_t inflight;
  int64_t blocksPerSm;
  int64_t chunk;

  bool operator==(const ElementsSchedule &) const = default;
};

/// Registers a thread needs with this schedule: the vectors in flight, two for the address of each
/// operand, two for each result and each reduction, and a fixed number for the body.
int64_t estimateRegisters(const ElementsStreams &streams, int64_t vec, int64_t inflight);

/// The schedule for these streams on such an arch; what `overrides` fix stays and the rest follows
/// from it, down to what any number of operands can have. USAGE where an override cannot work.
Result<ElementsSchedule> scheduleElements(const ElementsStreams &streams,
                                          const ElementsLimits &limits,
                                          const ScheduleOverrides &overrides);

/// The same for a kernel that reduces (skeleton norm_last_block): one partial per 65536 elements,
/// whatever the arch, since results depend on it; a `chunk` of the request is refused.
Result<ElementsSchedule> scheduleReduction(const ElementsStreams &streams,
                                           const ElementsLimits &limits,
                                           const ScheduleOverrides &overrides);

/// A decision about programs, and not about streams: the rules above leave it alone.
constexpr std::string_view kEarlyLaunch = "early_launch";

/// Whether kernels behind one that reduces are launched before that one has ended: where the arch
/// can, unless the request says no. USAGE where a request decides what the program has no kernel
/// for, or the arch no instruction.
Result<bool> allowEarlyLaunch(bool hasKernelBehind, bool archCan,
                              const ScheduleOverrides &overrides);

} // namespace fw::passes
