// The numbers of a loss scaler: where they lie, what they may be, what they start from.
#pragma once

#include "compiler/support/Error.h"
#include "fusewright/fusewright.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace fw::scaling {

/// The operands of the op `loss_scale`, in the memory of its device and in the host's copy of it.
/// Copies go upwards, so a reader that goes downwards and finds `seal` equal to `updates` has read
/// one state.
struct State {
  double updates = 0;
  float scale = 0, previousScale = 0, growthCount = 0, hysteresisLeft = 0;
  double skips = 0, skipsInARow = 0;
  float lastSkipped = 0, lastReport = 0;
  float none = 0; ///< always 0: the step of an optimizer that there is not
  uint32_t reserved = 0;
  double seal = 0;

  bool operator==(const State &) const = default;
};
static_assert(sizeof(State) == 64, "one transfer to the host");

/// An operand of the op.
struct Field {
  const char *name;
  size_t offset;
  bool isDouble;
  bool isSaved = true;

  const char *dtype() const { return isDouble ? "f64" : "f32"; }
};
std::span<const Field> fields();
/// Null: no field has the name.
const Field *findField(std::string_view name);

double get(const State &state, const Field &field);

/// A number for messages; those of f32 are exact.
std::string text(double value);

fw_scaler_options defaultOptions();

/// How a scaler decides; fw_scaler_options without what the op's options say.
struct Rules {
  double initScale = 0, minScale = 0, maxScale = 0;
  int64_t growthInterval = 0, hysteresis = 0;
  bool isDynamic = true;
};

/// USAGE for what the ranges of the op's hyper-parameters leave open.
Result<void> check(const Rules &rules);

State initial(const Rules &rules);

/// A state from saved numbers in any order; those that are missing are the initial ones. USAGE
/// names the number that makes no sense.
Result<State> restore(const Rules &rules, const std::map<std::string, double> &saved);

/// What `memory` holds, unless it is being written: another thread or a device may do that at any
/// time.
std::optional<State> readWhole(const State &memory);

} // namespace fw::scaling
