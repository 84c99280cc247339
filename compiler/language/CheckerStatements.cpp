#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

namespace fw::language {

void Checker::walk(const std::vector<Statement> &body) {
  for (const Statement &statement : body) {
    if (auto *option = statement.as<OptionDeclaration>())
      declareOption(*option);
    else if (auto *declaration = statement.as<Declaration>())
      declare(*declaration);
    else if (auto *assignment = statement.as<Assignment>())
      assign(*assignment);
    else if (auto *branch = statement.as<StatementIf>())
      walkIf(*branch);
  }
}

void Checker::walkIf(const StatementIf &statement) {
  std::optional<bool> taken = optionCondition(*statement.condition);
  if (taken)
    walk(*taken ? statement.then : statement.otherwise);
}

/// The value of a condition over options; an error if it is anything else.
std::optional<bool> Checker::optionCondition(const Expr &condition) {
  std::optional<ValueInfo> value = check(condition);
  if (!value)
    return std::nullopt;
  if (!value->option)
    error(condition.at,
          "expected a condition over options, got a value that is known at run time only",
          "use a select: name = if c then a else b");
  return value->option;
}

void Checker::assign(const Assignment &assignment) {
  std::optional<ValueInfo> value = check(*assignment.value);
  bool allowed = mayAssign(assignment);
  if (!allowed)
    return;
  auto [entry, isNewName] = symbols.emplace(assignment.name, Symbol{assignment.at});
  Symbol &symbol = entry->second;
  symbol.assignedAt = assignment.at;
  if (isNewName && value) {
    symbol.type = value->type;
    symbol.scope = value->scope;
  }
  if (!value)
    return;
  if (symbol.declaration && value->type == Type::Bool)
    error(assignment.value->at, "expected a real for " + quoted(assignment.name) + ", got a bool",
          "write if c then 1 else 0");
  else if (symbol.declaration && !checkScope(assignment, *value, symbol))
    return;
  resolved.body.push_back(&assignment);
}

bool Checker::checkScope(const Assignment &assignment, const ValueInfo &value,
                         const Symbol &symbol) {
  if (value.scope.isWithin(symbol.scope))
    return true;
  const std::vector<std::string> &axes = op.domain.axes;
  std::string wanted = symbol.scope.print(axes);
  bool isElement = value.scope.isElement();
  error(assignment.value->at,
        "expected a value of scope " + wanted + " for " + quoted(assignment.name) +
            ", got one of scope " + value.scope.print(axes),
        isElement ? "reduce it first, as in sum[" + wanted + "](x)"
                  : "reduce to [" + wanted + "] where it is made");
  return false;
}

bool Checker::mayAssign(const Assignment &assignment) {
  auto known = symbols.find(assignment.name);
  if (known == symbols.end())
    return true;
  const Symbol &symbol = known->second;
  if (symbol.assignedAt) {
    error(assignment.at,
          "expected one assignment to " + quoted(assignment.name) + ", got a second one after " +
              lineOf(*symbol.assignedAt),
          "give the new value a name of its own");
    return false;
  }
  bool assignable = symbol.declaration && info(symbol.declaration->role).assigned;
  if (!assignable) {
    std::string what = symbol.option ? "option" : std::string(info(symbol.declaration->role).name);
    error(assignment.at,
          "expected a name that may be assigned, got " + what + " " + quoted(assignment.name),
          "only param, state, out and save operands and new names are assigned");
  }
  return assignable;
}

} // namespace fw::language
