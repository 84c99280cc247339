#include "compiler/dialect/ScheduleTable.h"

#include <algorithm>

namespace fw {

static constexpr Decision kDecisions[] = {
#define FW_DECISION(...) Decision{__VA_ARGS__},
#include "compiler/dialect/schedule.def"
#undef FW_DECISION
};

static constexpr Fact kFacts[] = {
#define FW_FACT(...) Fact{__VA_ARGS__},
#include "compiler/dialect/facts.def"
#undef FW_FACT
};

std::span<const Decision> allDecisions() { return kDecisions; }
std::span<const Fact> allFacts() { return kFacts; }

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

static bool isOf(const Decision &decision, std::string_view pattern) {
  for (std::string_view rest = decision.patterns; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == pattern)
      return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::optional<std::string> checkPattern(std::string_view name, std::string_view pattern) {
  std::string names;
  for (const Decision &decision : kDecisions)
    if (isOf(decision, pattern)) {
      if (decision.name == name)
        return std::nullopt;
      names += (names.empty() ? "" : ", ") + std::string(decision.name);
    }
  return "expected a schedule decision of pattern " + std::string(pattern) + " (" + names +
         "), got '" + std::string(name) + "'";
}

const Fact *findFact(std::string_view name) {
  const auto *fact = std::ranges::find(kFacts, name, &Fact::name);
  return fact == std::end(kFacts) ? nullptr : fact;
}

std::optional<std::string> checkFact(std::string_view name, int64_t value) {
  const Fact *fact = findFact(name);
  if (!fact) {
    std::string names;
    for (const Fact &known : kFacts)
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    return "expected a fact (" + names + "), got '" + std::string(name) + "'";
  }
  const bool isEnd = value == fact->least || value == fact->most;
  if (isEnd || (!fact->onlyEnds && value > fact->least && value < fact->most))
    return std::nullopt;
  return "expected " + std::string(name) + (fact->onlyEnds ? " to be " : " from ") +
         std::to_string(fact->least) + (fact->onlyEnds ? " or " : " to ") +
         std::to_string(fact->most) + ", got " + std::to_string(value);
}

} // namespace fw
