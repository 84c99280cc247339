#include "compiler/emit/Spelling.h"

#include <algorithm>

namespace fw::emit {
namespace {

constexpr Spelling kSpellings[] = {
#define FW_SPELLING(...) Spelling{__VA_ARGS__},
#include "compiler/emit/spelling.def"
#undef FW_SPELLING
};

/// a - (b - c) keeps its parentheses and (a - b) - c needs none: infix operators group to the left.
/// -(-a) keeps them, or it would be a decrement.
bool needsParentheses(const Text &operand, Level level, size_t place) {
  if (level >= Level::Call)
    return false;
  if (level == Level::Or && operand.level == Level::And)
    return true; // not needed, but compilers warn without them
  if (level == Level::Equality || level == Level::Order)
    return operand.level <= Level::Order; // C groups a < b == c; readers do not
  bool groupsLeft = place == 0 && level != Level::Prefix && level != Level::Choice;
  return groupsLeft ? operand.level < level : operand.level <= level;
}

} // namespace

std::span<const Spelling> allSpellings() { return kSpellings; }

const Spelling *findSpelling(std::string_view op) {
  for (const Spelling &spelling : kSpellings)
    if (spelling.op == op)
      return &spelling;
  return nullptr;
}

Text fill(std::string_view pattern, Level level, std::span<const Text> operands) {
  Text out{.text = "", .level = level, .depth = 1};
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') {
      out.text += pattern[at];
      continue;
    }
    size_t place = size_t(pattern[at + 1] - '0');
    const Text &operand = operands[place];
    bool wrap = needsParentheses(operand, level, place);
    out.text += (wrap ? "(" : "") + operand.text + (wrap ? ")" : "");
    out.depth = std::max(out.depth, operand.depth + 1);
    at += 2;
  }
  return out;
}

} // namespace fw::emit
