#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

Checker::Checker(const Op &op, const OptionValues &options) : op(op) {
  resolved.op = &op;
  resolved.options = options;
  resolved.values.resize(op.nodes.size());
}

void Checker::run() {
  checkDomain();
  walk(op.body);
  if (resolved.info.draws)
    checkDrawNames();
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

/// What an op runs over: some operand has to say how many elements, or places on an axis, there
/// are. One that may be absent does not.
void Checker::checkList() {
  if (isScalarsOnly())
    return;
  for (size_t axis = 0; axis < op.domain.axes.size(); ++axis) {
    bool hasAxis = std::any_of(symbols.begin(), symbols.end(), [&](const auto &entry) {
      const Symbol &symbol = entry.second;
      return symbol.declaration && !symbol.declaration->optional && !symbol.scope.isUniform() &&
             symbol.scope.divisors()[axis] == 1;
    });
    if (!hasAxis && hasAxes())
      error(op.domain.at,
            "expected a required operand along axis " + quoted(op.domain.axes[axis]) + ", got none",
            "an operand's shape says how long the axis is; remove the axis or 'optional'");
    else if (!hasAxis)
      error(op.domain.at, "expected an operand with a value per element, got none",
            "write the op over []");
  }
}

void Checker::checkDrawNames() {
  for (const char *name : {"seed", "offset"})
    if (auto known = symbols.find(name); known != symbols.end())
      error(known->second.at,
            "expected another name, got " + quoted(name) + " in an op that draws random numbers",
            "such an op has the int hypers seed and offset; rename it");
}

void Checker::error(Offset at, std::string text, std::string remedy) {
  if (found.diagnostics.size() < maxFindings)
    found.diagnostics.push_back({Severity::Error, at, std::move(text), std::move(remedy)});
}

std::string Checker::lineOf(Offset at) const {
  return "line " + std::to_string(op.source->place(at).line);
}

} // namespace fw::language
