// The decisions of a schedule by name (schedule.def), without MLIR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fw {

struct Decision {
  std::string_view name;
  int64_t least;
  int64_t most;
  std::string_view help;
};

/// All decisions in the table's order.
std::span<const Decision> allDecisions();

/// What is wrong with `name = value`, or nothing.
std::optional<std::string> checkDecision(std::string_view name, int64_t value);

} // namespace fw
