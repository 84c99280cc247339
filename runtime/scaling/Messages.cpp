#include "runtime/scaling/Messages.h"

#include <cmath>

namespace fw::scaling {
namespace {

/// Skips that are expected: from 65536 ten halvings lead to 64.
constexpr double firstSkips = 10;
/// No list is longer; a larger report is somebody's own.
constexpr float mostTensors = 0x1p32f;
/// From here on a number may be that of a neighbour, rounded.
constexpr float firstRounded = 0x1p24f;

// What `guard` reports beside tensors and the norm (compiler/passes/FeatureGuard.cpp).
constexpr float leftOut = -1, badScalar = -2, badExchange = -3;

constexpr const char *explanation =
    "loss scale: it starts high and comes down at the first overflows; such skips are part of the "
    "search, and nothing but the step is lost";

std::string reason(const State &state) {
  const float skipped = state.lastSkipped;
  const std::string who = state.lastReport > 0 ? " of optimizer " + text(state.lastReport) : "";
  switch (outcomeOf(skipped)) {
  case FW_STEP_BAD_GRADIENT: {
    const int64_t tensor = tensorOf(skipped);
    const std::string which =
        tensor < 0 ? "one of its tensors" : "tensor " + std::to_string(tensor);
    return "a gradient of " + which + who + " is not finite";
  }
  case FW_STEP_BAD_NORM:
    return std::isinf(skipped) ? "the norm of the gradients" + who + " is not finite"
                               : "the report" + who + " is NaN";
  case FW_STEP_LEFT_OUT:
    return "its caller said so";
  default:
    break;
  }
  if (skipped == badScalar)
    return "a scalar" + who +
           ", all.max_norm say, is outside its range where it is read from memory";
  if (skipped == badExchange)
    return "other ranks gave no number of a tensor" + who + "; look at the world's all_reduce";
  return "the report" + who + " is " + text(skipped);
}

/// "step 7 skipped since ...", or of several: "3 of 5 steps skipped, the last since ...".
std::string skipped(const State &before, const State &now) {
  const double skips = now.skips - before.skips, steps = now.updates - before.updates;
  if (steps <= 1)
    return "step " + text(now.updates) + " skipped since " + reason(now);
  std::string many = text(skips) + " of " + text(steps) + " steps skipped";
  return now.skipsInARow > 0 ? many + ", the last since " + reason(now) : many;
}

std::string consequence(const State &before, const State &now, const Rules &rules) {
  if (!rules.isDynamic)
    return "static scale " + text(now.scale) + " stays";
  if (now.scale != before.scale)
    return text(before.scale) + " to " + text(now.scale);
  if (now.hysteresisLeft != before.hysteresisLeft && now.hysteresisLeft > 0)
    return "hysteresis " + text(before.hysteresisLeft) + " to " + text(now.hysteresisLeft);
  if (now.skipsInARow > 0 && now.scale <= float(rules.minScale))
    return "scale " + text(now.scale) +
           " stays, it is at its floor; where no scale helps, look for NaN in the model or its "
           "data";
  return "scale " + text(now.scale) + " stays";
}

std::string counts(const State &now) {
  return " (" + text(now.skips) + " skips in " + text(now.updates) + " steps, " +
         text(now.skipsInARow) + " in a row)";
}

} // namespace

fw_step_outcome outcomeOf(float skipped) {
  if (skipped == 0)
    return FW_STEP_APPLIED;
  if (!std::isfinite(skipped))
    return FW_STEP_BAD_NORM;
  if (skipped == leftOut)
    return FW_STEP_LEFT_OUT;
  const bool isTensor = skipped >= 1 && skipped <= mostTensors && std::trunc(skipped) == skipped;
  return isTensor ? FW_STEP_BAD_GRADIENT : FW_STEP_BAD_NUMBER;
}

int64_t tensorOf(float skipped) {
  return outcomeOf(skipped) == FW_STEP_BAD_GRADIENT && skipped < firstRounded ? int64_t(skipped) - 1
                                                                              : -1;
}

std::vector<Message> describeChange(const State &before, const State &now, const Rules &rules) {
  std::vector<Message> messages;
  if (now.skips > before.skips) {
    const bool isFirst = now.skips <= firstSkips;
    messages.push_back({isFirst ? FW_LOG_INFO : FW_LOG_WARNING,
                        "loss scale: " + skipped(before, now) + "; " +
                            consequence(before, now, rules) + (isFirst ? "" : counts(now))});
    if (isFirst && before.skips == 0)
      messages.push_back({FW_LOG_INFO, explanation});
  } else if (now.scale > before.scale) {
    messages.push_back({FW_LOG_DEBUG, "loss scale: " + text(before.scale) + " to " +
                                          text(now.scale) + " after " + text(now.updates) +
                                          " steps"});
  }
  return messages;
}

} // namespace fw::scaling
