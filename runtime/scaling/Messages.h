// What a loss scaler tells the host's log.
#pragma once

#include "fusewright/fusewright.h"
#include "runtime/scaling/State.h"

#include <string>
#include <vector>

namespace fw::scaling {

struct Message {
  fw_log_level level;
  std::string text;
};

/// The kinds of reports of a step: fw_step_outcome of what `guard` writes to all.skipped, or of any
/// number that somebody else reports.
fw_step_outcome outcomeOf(float skipped);
/// The tensor that a report names; -1: none, or one of which f32 does not tell the number.
int64_t tensorOf(float skipped);

/// Of what happened between two states. The first skips of a run are part of the search for a
/// scale, and said to be; later ones are warnings.
std::vector<Message> describeChange(const State &before, const State &now, const Rules &rules);

} // namespace fw::scaling
