#include "compiler/passes/rules/Decisions.h"

#include "compiler/dialect/ScheduleTable.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace fw::passes {

int64_t widest(std::span<const OperandStream> streams) {
  unsigned bytes = 1;
  for (const OperandStream &stream : streams)
    bytes = std::max(bytes, stream.bytes);
  return bytes;
}

using Numbers = std::map<std::string, int64_t, std::less<>>;

/// "name=number,..." with each name once; `check` says what is wrong with one.
template <class Check>
static Result<Numbers> parseNumbers(std::string_view text, const std::string &list,
                                    const std::string &what, const char *example, Check &&check) {
  Numbers numbers;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    size_t equals = entry.find('=');
    std::string name(entry.substr(0, equals));
    std::string_view digits = equals == entry.npos ? "" : entry.substr(equals + 1);
    int64_t value = 0;
    auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || status != std::errc() || end != digits.data() + digits.size())
      return usage("expected name=number in a " + list + ", got '" + std::string(entry) + "'",
                   "write for example " + std::string(example));
    if (std::optional<std::string> message = check(name, value))
      return usage(*message, "correct the " + list);
    if (!numbers.emplace(name, value).second)
      return usage("expected each " + what + " once, got '" + name + "' twice", "give it once");
  }
  return numbers;
}

Result<ScheduleOverrides> parseOverrides(std::string_view text) {
  return parseNumbers(text, "schedule", "decision", "threads=256,vec=4", checkDecision);
}

Result<Numbers> parseFacts(std::string_view text) {
  Result<Numbers> facts =
      parseNumbers(text, "list of facts", "fact", "columns=4096,aligned=16", checkFact);
  if (facts)
    for (const Fact &fact : allFacts())
      facts->emplace(fact.name, fact.fallback);
  return facts;
}

int64_t overrideOr(const ScheduleOverrides &overrides, std::string_view name, int64_t rule) {
  auto found = overrides.find(name);
  return found == overrides.end() ? rule : found->second;
}

Error usage(std::string text, std::string remedy) {
  return {.code = Code::USAGE, .text = std::move(text), .remedy = std::move(remedy)};
}

std::string expected(std::string_view name, const std::string &what, int64_t got) {
  return "expected " + std::string(name) + " to be " + what + ", got " + std::to_string(got);
}

Result<void> checkVec(int64_t vec, std::span<const OperandStream> streams) {
  const int64_t most = kVectorBytes / widest(streams);
  if (!std::has_single_bit(uint64_t(vec)) || vec > most)
    return usage(expected("vec",
                          "a power of two up to " + std::to_string(most) + " (" +
                              std::to_string(kVectorBytes) + " bytes of the widest stream)",
                          vec),
                 "choose a smaller vector, or narrower dtypes");
  return {};
}

Result<void> checkBlocks(int64_t blocksPerSm, int64_t threads, int64_t threadsPerSm) {
  if (blocksPerSm * threads > threadsPerSm)
    return usage(expected("blocks_per_sm",
                          "at most " + std::to_string(threadsPerSm / threads) + " blocks of " +
                              std::to_string(threads) + " threads",
                          blocksPerSm),
                 "choose fewer, or leave it to the rule");
  return {};
}

} // namespace fw::passes
