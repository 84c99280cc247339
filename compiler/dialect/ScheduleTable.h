// The decisions of a schedule and the facts of a request by name (schedule.def, facts.def), without
// MLIR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fw {

struct Decision {
  std::string_view name;
  std::string_view patterns; ///< of kernels that have it, separated by spaces
  int64_t least;
  int64_t most;
  std::string_view help;
};

/// All decisions in the table's order.
std::span<const Decision> allDecisions();

/// What is wrong with `name = value`, or nothing.
std::optional<std::string> checkDecision(std::string_view name, int64_t value);

/// What is wrong with the decision `name`, a legal one, for a kernel of `pattern`, or nothing.
std::optional<std::string> checkPattern(std::string_view name, std::string_view pattern);

struct Fact {
  std::string_view name;
  int64_t least;
  int64_t most;
  bool onlyEnds; ///< no value between the two
  int64_t fallback;
  std::string_view help;
};

/// All facts in the table's order.
std::span<const Fact> allFacts();

/// The fact called `name`, or null.
const Fact *findFact(std::string_view name);

/// What is wrong with `name = value`, or nothing.
std::optional<std::string> checkFact(std::string_view name, int64_t value);

} // namespace fw
