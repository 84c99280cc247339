#include "compiler/language/Checker.h"

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
          "declare a param, a state or an out");
}

void Checker::error(Offset at, std::string text, std::string remedy) {
  if (found.diagnostics.size() < maxFindings)
    found.diagnostics.push_back({Severity::Error, at, std::move(text), std::move(remedy)});
}

std::string Checker::lineOf(Offset at) const {
  return "line " + std::to_string(op.source->place(at).line);
}

} // namespace fw::language
