#include "compiler/language/Checker.h"

#include <algorithm>

namespace fw::language {

Checker::Checker(const Op &op, const OptionValues &options) : op(op) {
  resolved.op = &op;
  resolved.options = options;
  resolved.values.resize(op.nodes.size());
}

void Checker::run() {
  walk(op.body);
  // A value with an error hides what it uses.
  if (found.diagnostics.empty())
    checkUses();
  if (found.diagnostics.empty())
    checkList();
  if (found.diagnostics.empty())
    collectInfo();
}

void Checker::checkUses() {
  bool writes = false;
  for (const auto &[name, symbol] : symbols) {
    checkUse(name, symbol);
    writes |= symbol.declaration && info(symbol.declaration->role).assigned;
  }
  if (!writes)
    error(op.at, "expected an operand that the op writes, got none",
          isScalarsOnly() ? "declare a state or an out" : "declare a param, a state or an out");
}

/// What an op over elements runs over: some operand has to say how many elements there are.
void Checker::checkList() {
  bool hasElements = std::any_of(symbols.begin(), symbols.end(), [](const auto &entry) {
    return entry.second.declaration && entry.second.scope.isElement();
  });
  if (!hasElements && !isScalarsOnly())
    error(op.domain.at, "expected an operand with a value per element, got none",
          "write the op over []");
}

void Checker::error(Offset at, std::string text, std::string remedy) {
  if (found.diagnostics.size() < maxFindings)
    found.diagnostics.push_back({Severity::Error, at, std::move(text), std::move(remedy)});
}

std::string Checker::lineOf(Offset at) const {
  return "line " + std::to_string(op.source->place(at).line);
}

} // namespace fw::language
