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
  symbol.across = value->across;
  if (takesScopeOfValue(symbol))
    symbol.scope =
        value->scope.isUniform() && value->scope != Scope::all() ? Scope::tensor() : value->scope;
  if (symbol.declaration &&
      (!checkStored(assignment, *value, symbol) || !checkScope(assignment, *value, symbol) ||
       !checkInwards(assignment.value->at, *value, symbol.scope)))
    return;
  resolved.body.push_back(&assignment);
}

/// A save without axes has those of what is saved.
bool Checker::takesScopeOfValue(const Symbol &symbol) const {
  return hasAxes() && symbol.declaration && symbol.declaration->role == Role::Save &&
         !symbol.declaration->axes;
}

/// A real operand takes ints too.
bool Checker::checkStored(const Assignment &assignment, const ValueInfo &value,
                          const Symbol &symbol) {
  if (value.type == symbol.type || (symbol.type == Type::Real && value.type == Type::Int))
    return true;
  error(assignment.value->at,
        "expected " + withArticle(symbol.type) + " for " + quoted(assignment.name) + ", got " +
            withArticle(value.type),
        symbol.type == Type::Bool  ? "compare it: x != 0"
        : value.type == Type::Bool ? "write if c then 1 else 0"
                                   : "declare " + quoted(assignment.name) + " as a real");
  return false;
}

bool Checker::checkScope(const Assignment &assignment, const ValueInfo &value,
                         const Symbol &symbol) {
  if (value.scope.isWithin(symbol.scope))
    return true;
  const std::vector<std::string> &axes = op.domain.axes;
  std::string wanted = symbol.scope.print(axes);
  std::string brackets = wanted.starts_with("[") ? wanted : "[" + wanted + "]";
  bool isElement = value.scope.isElement();
  error(assignment.value->at,
        "expected a value of scope " + wanted + " for " + quoted(assignment.name) +
            ", got one of scope " + value.scope.print(axes),
        isElement ? "reduce it first, as in sum" + brackets + "(x)"
                  : "reduce to " + brackets + " where it is made");
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
