// What the rules of all patterns share: streams, decisions that a request fixes, and how a decision
// that cannot work is told. Without MLIR.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fw::passes {

/// An operand that a kernel streams.
struct OperandStream {
  unsigned bytes; ///< of one element
  bool loaded;
  bool stored;
};

/// The widest access that every arch has.
constexpr int64_t kVectorBytes = 16;

/// Bytes of an element of the widest stream.
int64_t widest(std::span<const OperandStream> streams);

/// Decisions that a request fixes.
using ScheduleOverrides = std::map<std::string, int64_t, std::less<>>;

/// "threads=256,vec=4", each decision once and in the bounds of schedule.def.
Result<ScheduleOverrides> parseOverrides(std::string_view text);

/// "columns=4096,aligned=16", each fact once and in the bounds of facts.def; those that are not
/// given have their fallback.
Result<std::map<std::string, int64_t, std::less<>>> parseFacts(std::string_view text);

int64_t overrideOr(const ScheduleOverrides &overrides, std::string_view name, int64_t rule);

// --- Decisions that cannot work: USAGE ---

Error usage(std::string text, std::string remedy);
/// "expected NAME to be WHAT, got GOT"
std::string expected(std::string_view name, const std::string &what, int64_t got);

Result<void> checkVec(int64_t vec, std::span<const OperandStream> streams);
Result<void> checkBlocks(int64_t blocksPerSm, int64_t threads, int64_t threadsPerSm);

} // namespace fw::passes
