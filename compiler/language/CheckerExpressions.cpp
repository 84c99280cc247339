#include "compiler/language/Checker.h"

#include "compiler/language/OperandDtypes.h"
#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

std::optional<ValueInfo> Checker::check(const Expr &expr) {
  std::optional<ValueInfo> value = checkNode(expr);
  if (value)
    resolved.values[expr.id] = *value;
  return value;
}

std::optional<ValueInfo> Checker::checkNode(const Expr &expr) {
  if (auto *number = expr.as<Number>())
    return ValueInfo{number->isInt ? Type::Int : Type::Real};
  if (auto *truth = expr.as<Truth>())
    return ValueInfo{Type::Bool, Scope::constant(), truth->value};
  if (auto *name = expr.as<Name>())
    return checkName(expr, *name);
  if (auto *select = expr.as<Select>())
    return checkSelect(*select);
  if (auto *reduce = expr.as<Reduce>())
    return checkReduce(expr, *reduce);
  if (auto *apply = expr.as<Apply>()) {
    bool isEquality = apply->function == Function::Equal || apply->function == Function::NotEqual;
    if (isEquality)
      if (std::optional<ValueInfo> value = checkOptionEquality(expr, *apply))
        return value;
    return checkApply(expr, *apply);
  }
  if (auto *gather = expr.as<Gather>())
    return checkGather(expr, *gather);
  if (auto *call = expr.as<OpCall>())
    return checkCall(expr, *call, nullptr);
  if (auto *member = expr.as<Member>())
    return checkCall(*member->call, *member->call->as<OpCall>(), &expr);
  return std::nullopt; // a word is no value; it is checked with what it belongs to
}

// --- Names ---------------------------------------------------------------------------------------

std::optional<ValueInfo> Checker::checkName(const Expr &expr, const Name &name) {
  auto known = symbols.find(name.name);
  if (known == symbols.end()) {
    reportUnknown(expr, name.name);
    return std::nullopt;
  }
  Symbol &symbol = known->second;
  symbol.used = true;
  if (symbol.option) {
    if (symbol.option->isBool())
      return ValueInfo{Type::Bool, Scope::constant(), resolved.options.at(name.name) == "true"};
    error(expr.at, "expected a value, got option " + quoted(name.name),
          "compare it: " + name.name + " == " + symbol.option->values[0]);
    return std::nullopt;
  }
  if (!symbol.assignedAt) {
    if (!info(symbol.declaration->role).loaded) {
      error(expr.at,
            "expected a name that has a value, got " +
                std::string(info(symbol.declaration->role).name) + " " + quoted(name.name) +
                " before its assignment",
            "assign it first");
      return std::nullopt;
    }
    symbol.loaded = true;
    if (!checkRead(expr.at, name.name, symbol))
      return std::nullopt;
  }
  return ValueInfo{symbol.type, symbol.scope, std::nullopt, symbol.across};
}

const OptionDeclaration *Checker::optionWithValue(const std::string &value) const {
  for (const auto &[name, symbol] : symbols)
    if (symbol.option &&
        std::count(symbol.option->values.begin(), symbol.option->values.end(), value))
      return symbol.option;
  return nullptr;
}

static bool assigns(const std::vector<Statement> &body, std::string_view name, Offset &first) {
  for (const Statement &statement : body) {
    if (auto *assignment = statement.as<Assignment>(); assignment && assignment->name == name)
      return first = assignment->at, true;
    if (auto *declaration = statement.as<Declaration>(); declaration && declaration->name == name)
      return first = declaration->at, true;
    if (auto *branch = statement.as<StatementIf>())
      if (assigns(branch->then, name, first) || assigns(branch->otherwise, name, first))
        return true;
  }
  return false;
}

void Checker::reportUnknown(const Expr &expr, const std::string &name) {
  if (found.diagnostics.size() >= maxFindings)
    return;
  Offset first = 0;
  if (assigns(op.body, name, first)) {
    bool later = first > expr.at;
    return error(
        expr.at,
        "expected a name that has a value, got " + quoted(name) +
            (later ? ", which gets its value on " + lineOf(first) + " only" : ", which has none"),
        later ? "assign it first" : "give it a value in every arm");
  }
  if (const OptionDeclaration *option = optionWithValue(name))
    return error(expr.at,
                 "expected a value, got " + quoted(name) + ", a value of option " +
                     quoted(option->name),
                 "compare the option: " + option->name + " == " + name);
  std::vector<std::string_view> names;
  for (const auto &[known, symbol] : symbols)
    names.push_back(known);
  std::optional<std::string> near = nearest(name, names);
  error(expr.at, "expected a declared name, got " + quoted(name),
        near ? "did you mean " + quoted(*near)
             : "declare it, as in 'hyper " + name + " = 1', or assign it on a line before");
}

// --- Options -------------------------------------------------------------------------------------

/// `option == value`; nothing if the left side is no option.
std::optional<ValueInfo> Checker::checkOptionEquality(const Expr &expr, const Apply &apply) {
  const Name *left = apply.arguments[0]->as<Name>();
  auto known = left ? symbols.find(left->name) : symbols.end();
  if (known == symbols.end() || !known->second.option)
    return std::nullopt;
  known->second.used = true;
  const std::vector<std::string> &values = known->second.option->values;
  const Expr &right = *apply.arguments[1];
  std::string wanted;
  if (auto *name = right.as<Name>())
    wanted = name->name;
  else if (auto *truth = right.as<Truth>())
    wanted = truth->value ? "true" : "false";
  if (std::find(values.begin(), values.end(), wanted) == values.end())
    error(right.at,
          "expected a value of option " + quoted(left->name) + ", got " +
              (wanted.empty() ? "an expression" : quoted(wanted)),
          "its values are " + alternatives(values));
  bool equal = resolved.options.at(left->name) == wanted;
  return ValueInfo{Type::Bool, Scope::constant(), equal == (apply.function == Function::Equal)};
}

/// What and, or and not make of operands that follow from the options.
static std::optional<bool> foldOptions(Function function, const std::vector<ValueInfo> &values) {
  if (function == Function::Not && values[0].option)
    return !*values[0].option;
  if (function != Function::And && function != Function::Or)
    return std::nullopt;
  bool decides = function == Function::Or;
  if (values[0].option == decides || values[1].option == decides)
    return decides;
  return values[0].option && values[1].option ? std::optional(!decides) : std::nullopt;
}

// --- Functions -----------------------------------------------------------------------------------

bool Checker::checkArity(const Expr &expr, const Apply &apply) {
  const FunctionInfo &function = info(apply.function);
  size_t count = apply.arguments.size();
  if (count >= function.minArguments() && count <= function.maxArguments())
    return true;
  static constexpr const char *signatures[] = {"()", "(x)", "(x, y)", "(x, y, z)"};
  size_t wanted = function.minArguments();
  error(expr.at,
        "expected " + std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments") + " of " +
            quoted(function.spelling) + ", got " + std::to_string(count),
        "write " + std::string(function.spelling) + signatures[wanted]);
  return false;
}

bool Checker::checkArgument(const Apply &apply, size_t index,
                            const std::vector<ValueInfo> &values) {
  const FunctionInfo &function = info(apply.function);
  Offset at = apply.arguments[index]->at;
  Type type = values[index].type;
  switch (function.takes[index]) {
  case 'b':
    if (type == Type::Bool)
      return true;
    error(at,
          "expected a condition for " + quoted(function.spelling) + ", got " + withArticle(type),
          "compare it: x != 0");
    return false;
  case 'e':
    if (index == 0 || (type == Type::Bool) == (values[0].type == Type::Bool))
      return true;
    error(at,
          "expected " + withArticle(values[0].type) + " on both sides of " +
              quoted(function.spelling) + ", got " + withArticle(type),
          "compare a bool with a bool and a number with a number");
    return false;
  case 'k':
    return checkExponent(apply, values);
  case 'i':
    if (type == Type::Int)
      return true;
    error(at, "expected an int for " + quoted(function.spelling) + ", got " + withArticle(type),
          "ints are literals without a point, the step, index, size, and what is declared an int");
    return false;
  default:
    if (type != Type::Bool)
      return true;
    error(at, "expected a number for " + quoted(function.spelling) + ", got a bool",
          "write if c then 1 else 0");
    return false;
  }
}

bool Checker::checkExponent(const Apply &apply, const std::vector<ValueInfo> &values) {
  const Expr &exponent = *apply.arguments[1];
  if (values[1].type != Type::Int) {
    error(exponent.at, "expected an int as exponent, got " + withArticle(values[1].type),
          values[1].type == Type::Bool ? "write if c then x else 1"
                                       : "write exp(y*log(x)), or sqrt(x) for x^0.5");
    return false;
  }
  if (literalInt(exponent))
    return true;
  if (!values[0].scope.isUniform()) {
    error(exponent.at,
          "expected an int literal as exponent of a value of scope " +
              values[0].scope.print(op.domain.axes) + ", got a value of scope " +
              values[1].scope.print(op.domain.axes),
          "write exp(y*log(x))");
    return false;
  }
  return true;
}

static Type resultType(Gives gives, const std::vector<ValueInfo> &values) {
  switch (gives) {
  case Gives::Bool:
    return Type::Bool;
  case Gives::Int:
    return Type::Int;
  case Gives::Real:
    return Type::Real;
  case Gives::Joined:
    break;
  }
  bool allInt = std::all_of(values.begin(), values.end(),
                            [](const ValueInfo &value) { return value.type == Type::Int; });
  return allInt ? Type::Int : Type::Real;
}

std::optional<ValueInfo> Checker::checkApply(const Expr &expr, const Apply &apply) {
  if (!checkArity(expr, apply))
    return std::nullopt;
  const FunctionInfo &function = info(apply.function);
  if (function.takes == "v")
    return checkOperandFunction(expr, apply);
  if (apply.function == Function::RoundTo)
    return checkRoundTo(apply);
  if (function.takes == "a")
    return checkPlace(expr, apply);
  if (apply.function == Function::SwapPairs)
    return checkSwapPairs(expr, apply);
  if (function.takes.empty())
    return checkDraw(expr, apply);
  std::vector<ValueInfo> values;
  for (const Expr *argument : apply.arguments)
    if (std::optional<ValueInfo> value = check(*argument))
      values.push_back(*value);
  if (values.size() != apply.arguments.size())
    return std::nullopt;
  Scope scope = Scope::constant();
  bool across = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!checkArgument(apply, i, values))
      return std::nullopt;
    scope = Scope::join(scope, values[i].scope);
    across |= values[i].across;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (!checkInwards(apply.arguments[i]->at, values[i], scope))
      return std::nullopt;
  return ValueInfo{resultType(function.gives, values), scope, foldOptions(apply.function, values),
                   across};
}

/// old, stored and largest speak of an operand, not of a value.
std::optional<ValueInfo> Checker::checkOperandFunction(const Expr &expr, const Apply &apply) {
  const Expr &argument = *apply.arguments[0];
  const Name *name = argument.as<Name>();
  auto known = name ? symbols.find(name->name) : symbols.end();
  bool isOperand = known != symbols.end() && known->second.declaration &&
                   !info(known->second.declaration->role).scalar;
  std::string function(info(apply.function).spelling);
  if (!isOperand) {
    error(argument.at,
          "expected the name of an operand for " + quoted(function) + ", got " +
              (name ? quoted(name->name) : "an expression"),
          "write " + function + "(m), where m is declared as an operand");
    return std::nullopt;
  }
  Symbol &symbol = known->second;
  if (symbol.declaration->optional) {
    error(argument.at,
          "expected a required operand for " + quoted(function) + ", got optional " +
              quoted(name->name),
          "an absent operand has no storage");
    return std::nullopt;
  }
  if (apply.function != Function::Old && symbol.type != Type::Real) {
    error(argument.at,
          "expected an operand of reals for " + quoted(function) + ", got " +
              std::string(spelling(symbol.type)) + " " + quoted(name->name),
          "ints and bools are stored as they are");
    return std::nullopt;
  }
  resolved.info.usesStorage |= apply.function != Function::Old;
  if (apply.function == Function::Largest)
    return ValueInfo{Type::Real, Scope::constant()};
  bool wantsLoaded = apply.function == Function::Old || !symbol.assignedAt;
  if (wantsLoaded && !info(symbol.declaration->role).loaded) {
    error(argument.at,
          "expected an operand that has a value for " + quoted(function) + ", got " +
              std::string(info(symbol.declaration->role).name) + " " + quoted(name->name),
          apply.function == Function::Old ? "an out or a save is not loaded" : "assign it first");
    return std::nullopt;
  }
  symbol.used = true;
  symbol.loaded |= wantsLoaded;
  return ValueInfo{symbol.type, symbol.scope, std::nullopt, symbol.across && !wantsLoaded};
}

std::optional<ValueInfo> Checker::checkRoundTo(const Apply &apply) {
  const Word *dtype = apply.arguments[0]->as<Word>();
  if (!isDtypeName(dtype->word)) {
    std::optional<std::string> near = nearest(dtype->word, dtypeNames());
    error(apply.arguments[0]->at, "expected a dtype, got " + quoted(dtype->word),
          near ? "did you mean " + quoted(*near) : "write round_to(bf16, x)");
    return std::nullopt;
  }
  std::optional<ValueInfo> value = check(*apply.arguments[1]);
  if (!value)
    return std::nullopt;
  if (value->type == Type::Bool) {
    error(apply.arguments[1]->at, "expected a number for 'round_to', got a bool",
          "write if c then 1 else 0");
    return std::nullopt;
  }
  return ValueInfo{Type::Real, value->scope, std::nullopt, value->across};
}

std::optional<ValueInfo> Checker::checkSelect(const Select &select) {
  std::optional<ValueInfo> condition = check(*select.condition);
  if (!condition)
    return std::nullopt;
  if (condition->type != Type::Bool) {
    error(select.condition->at, "expected a condition, got " + withArticle(condition->type),
          "compare it: x != 0");
    return std::nullopt;
  }
  if (condition->option)
    return check(*condition->option ? *select.ifTrue : *select.ifFalse);
  std::optional<ValueInfo> ifTrue = check(*select.ifTrue), ifFalse = check(*select.ifFalse);
  if (!ifTrue || !ifFalse)
    return std::nullopt;
  if ((ifTrue->type == Type::Bool) != (ifFalse->type == Type::Bool)) {
    error(select.ifFalse->at,
          "expected " + withArticle(ifTrue->type) + " as in the other arm, got " +
              withArticle(ifFalse->type),
          "both arms of a select have one type");
    return std::nullopt;
  }
  // Between two ints, a real: which int it is may be undecided within the evaluator's bounds.
  Type type = ifTrue->type == Type::Bool ? Type::Bool : Type::Real;
  Scope scope = Scope::join(condition->scope, Scope::join(ifTrue->scope, ifFalse->scope));
  if (!checkInwards(select.condition->at, *condition, scope) ||
      !checkInwards(select.ifTrue->at, *ifTrue, scope) ||
      !checkInwards(select.ifFalse->at, *ifFalse, scope))
    return std::nullopt;
  return ValueInfo{type, scope, std::nullopt,
                   condition->across || ifTrue->across || ifFalse->across};
}

} // namespace fw::language
