#include "compiler/dialect/ScheduleTable.h"

namespace fw {

static constexpr Decision kDecisions[] = {
#define FW_DECISION(...) Decision{__VA_ARGS__},
#include "compiler/dialect/schedule.def"
#undef FW_DECISION
};

std::span<const Decision> allDecisions() { return kDecisions; }

std::optional<std::string> checkDecision(std::string_view name, int64_t value) {
  std::string names;
  for (const Decision &decision : kDecisions) {
    if (decision.name != name) {
      names += (names.empty() ? "" : ", ") + std::string(decision.name);
      continue;
    }
    if (value >= decision.least && value <= decision.most)
      return std::nullopt;
    return "expected " + std::string(name) + " from " + std::to_string(decision.least) + " to " +
           std::to_string(decision.most) + ", got " + std::to_string(value);
  }
  return "expected a schedule decision (" + names + "), got '" + std::string(name) + "'";
}

} // namespace fw
