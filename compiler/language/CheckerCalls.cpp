// Calls of other ops: what stands for the callee's operands, hypers and options, and what comes
// out.
#include "compiler/language/Check.h"
#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

/// Checks one call. Options come first: they decide which operands the callee has.
class CallChecker {
public:
  CallChecker(Checker &checker, const Expr &expr, const OpCall &call)
      : checker(checker), expr(expr), call(call), callee(*checker.op.callees.at(call.op)) {}

  std::optional<ValueInfo> run(const Expr *member) {
    std::optional<OptionValues> options = chosenOptions();
    std::optional<std::vector<std::vector<size_t>>> axes = mapAxes();
    if (!options || !axes)
      return std::nullopt;
    Result<ResolvedOp> resolved = resolve(callee, *options);
    if (!resolved) // its own errors are reported with it
      return std::nullopt;
    out->op = std::move(*resolved);
    out->axes = std::move(*axes);
    if (!checkCallee() || !bind() || !checkBound())
      return std::nullopt;
    checker.resolved.info.draws |= info().draws;
    checker.resolved.info.swaps |= info().swaps;
    checker.resolved.calls[expr.id] = out;
    return resultOf(member);
  }

private:
  const OpInfo &info() const { return out->op.info; }
  std::string opText() const { return "op " + quoted(call.op); }

  bool fail(Offset at, std::string text, std::string remedy) {
    checker.error(at, std::move(text), std::move(remedy));
    return false;
  }

  // --- Options ---------------------------------------------------------------------------------

  const OptionDeclaration *findOption(const std::string &name) const {
    for (const Statement &statement : callee.body)
      if (auto *option = statement.as<OptionDeclaration>(); option && option->name == name)
        return option;
    return nullptr;
  }

  /// The text of an option's value: a word, true or false, or the value of an option of the caller.
  std::string optionText(const Expr &value) {
    if (auto *truth = value.as<Truth>())
      return truth->value ? "true" : "false";
    auto *name = value.as<Name>();
    if (!name)
      return "";
    auto known = checker.symbols.find(name->name);
    if (known == checker.symbols.end() || !known->second.option)
      return name->name;
    known->second.used = true;
    return checker.resolved.options.at(name->name);
  }

  std::optional<OptionValues> chosenOptions() {
    OptionValues options;
    for (const OpCall::Argument &argument : call.arguments) {
      const OptionDeclaration *option = findOption(argument.name);
      if (!option)
        continue;
      std::string text = optionText(*argument.value);
      if (std::find(option->values.begin(), option->values.end(), text) == option->values.end()) {
        fail(argument.value->at,
             "expected a value of option " + quoted(option->name) + " of " + opText() + ", got " +
                 (text.empty() ? "an expression" : quoted(text)),
             "its values are " + alternatives(option->values));
        return std::nullopt;
      }
      options[option->name] = text;
    }
    return options;
  }

  // --- Axes ------------------------------------------------------------------------------------

  static std::vector<size_t> places(size_t from, size_t to) {
    std::vector<size_t> out;
    for (; from < to; ++from)
      out.push_back(from);
    return out;
  }

  /// The same axes; or rows of what stands before and behind `;`, or the elements.
  std::optional<std::vector<std::vector<size_t>>> mapAxes() {
    const Domain &own = checker.op.domain, &other = callee.domain;
    const size_t count = own.axes.size();
    std::vector<std::vector<size_t>> map;
    if (other.kind == Domain::Kind::Elements && own.kind != Domain::Kind::Scalars)
      return map = {places(0, count)};
    bool isRowLike = checker.hasAxes() && own.outer < count;
    if (other.kind == Domain::Kind::Rows && isRowLike)
      return map = {places(0, own.outer), places(own.outer, count)};
    if (other.kind == own.kind && other.axes == own.axes && other.outer == own.outer) {
      for (size_t axis = 0; axis < count; ++axis)
        map.push_back({axis});
      return map;
    }
    fail(expr.at,
         "expected an op over the same axes" +
             std::string(isRowLike ? ", over rows or over elements" : " or over elements") +
             ", got " + opText(),
         "call it in an op with its header");
    return std::nullopt;
  }

  Scope mapped(const Scope &scope) const {
    if (scope.isUniform())
      return scope;
    Scope::Divisors divisors(checker.op.domain.axes.size(), 0);
    for (size_t axis = 0; axis < out->axes.size(); ++axis)
      for (size_t own : out->axes[axis])
        divisors[own] = std::max(divisors[own], scope.divisors()[axis]);
    return Scope::axes(std::move(divisors));
  }

  bool isOneToOne() const {
    return std::all_of(out->axes.begin(), out->axes.end(),
                       [](const std::vector<size_t> &axes) { return axes.size() == 1; });
  }

  // --- The callee ------------------------------------------------------------------------------

  static bool isInput(const OperandInfo &operand) {
    return operand.role == Role::In || operand.role == Role::Row || operand.role == Role::Column;
  }
  static bool isOutput(const OperandInfo &operand) {
    return operand.role == Role::Out || operand.role == Role::Save;
  }

  bool checkCallee() {
    for (const OperandInfo &operand : info().operands)
      if (!isInput(operand) && !isOutput(operand))
        return fail(expr.at,
                    "expected an op with in and out operands alone, got " + opText() + " with " +
                        std::string(language::info(operand.role).name) + " " + quoted(operand.name),
                    "what a launch keeps belongs to the op that is launched; write its equations");
    if (info().step)
      return fail(expr.at, "expected an op without a step, got " + opText(),
                  "pass the number as a hyper");
    if (info().usesStorage)
      return fail(expr.at,
                  "expected an op that asks for no storage, got " + opText() +
                      " with stored(...) or largest(...)",
                  "operands of a call are values, they are not stored; write its equations");
    if (!isOneToOne() && info().needsAxes)
      return fail(expr.at,
                  "expected an op without places on single axes, got " + opText() +
                      " for rows that span several",
                  "call it in an op over rows");
    return true;
  }

  // --- Arguments -------------------------------------------------------------------------------

  bool bind() {
    size_t next = 0;
    std::vector<std::string> inputs;
    for (const OperandInfo &operand : info().operands)
      if (isInput(operand))
        inputs.push_back(operand.name);
    for (const OpCall::Argument &argument : call.arguments) {
      if (findOption(argument.name))
        continue;
      if (argument.name.empty() && next == inputs.size())
        return fail(argument.value->at,
                    "expected at most " + std::to_string(inputs.size()) +
                        " arguments by position for " + opText() + ", got more",
                    inputs.empty() ? "it has no inputs"
                                   : "in, row and column operands are bound in their order, "
                                     "everything else by name");
      std::string name = argument.name.empty() ? inputs[next++] : argument.name;
      if (!isBindable(name))
        return unknown(argument, name, inputs);
      if (!out->arguments.emplace(name, argument.value).second)
        return fail(argument.value->at,
                    "expected one argument for " + quoted(name) + " of " + opText() + ", got two",
                    "remove one");
    }
    return true;
  }

  bool isBindable(const std::string &name) const {
    const OperandInfo *operand = info().operand(name);
    return operand ? isInput(*operand) : info().hyper(name) && !isDrawScalar(name);
  }
  bool isDrawScalar(const std::string &name) const {
    return info().draws && (name == "seed" || name == "offset");
  }

  bool unknown(const OpCall::Argument &argument, const std::string &name,
               std::vector<std::string> known) {
    for (const HyperInfo &hyper : info().hypers)
      if (!isDrawScalar(hyper.name))
        known.push_back(hyper.name);
    for (const OptionInfo &option : info().options)
      known.push_back(option.name);
    std::optional<std::string> near = nearest(name, {known.begin(), known.end()});
    return fail(argument.value->at,
                "expected an input, a hyper or an option of " + opText() + ", got " + quoted(name),
                near            ? "did you mean " + quoted(*near)
                : known.empty() ? "it has none"
                                : "it has " + alternatives(known));
  }

  /// Every input has a value of its type and scope, and every hyper one of the launch or tensor.
  bool checkBound() {
    bool isFine = true;
    for (const OperandInfo &operand : info().operands)
      if (isInput(operand))
        isFine &= checkOperand(operand);
    for (const HyperInfo &hyper : info().hypers)
      if (!isDrawScalar(hyper.name))
        isFine &= checkHyper(hyper);
    return isFine;
  }

  bool checkOperand(const OperandInfo &operand) {
    auto bound = out->arguments.find(operand.name);
    if (bound == out->arguments.end())
      return operand.neutral || fail(expr.at,
                                     "expected an argument for " + quoted(operand.name) + " of " +
                                         opText() + ", got none",
                                     "pass it, or make it optional there");
    std::optional<ValueInfo> value = argumentOf(operand, *bound->second);
    if (!value || !checkType(operand.name, operand.type, *bound->second, *value))
      return false;
    const Scope wanted = mapped(operand.scope);
    bool fits = wanted.isUniform() ? value->scope.isWithin(wanted) : value->scope == wanted;
    const std::vector<std::string> &axes = checker.op.domain.axes;
    if (!fits)
      return fail(bound->second->at,
                  "expected a value of scope " + wanted.print(axes) + " for " +
                      quoted(operand.name) + " of " + opText() + ", got one of scope " +
                      value->scope.print(axes),
                  "the callee may reduce it, so it has to vary as the operand does");
    return !operand.gathered || checkGathered(operand, *bound->second);
  }

  /// One that is only read at an index is no value: it may have an axis of its own.
  std::optional<ValueInfo> argumentOf(const OperandInfo &operand, const Expr &argument) {
    auto *name = operand.gathered ? argument.as<Name>() : nullptr;
    auto known = name ? checker.symbols.find(name->name) : checker.symbols.end();
    if (known == checker.symbols.end() || !known->second.declaration)
      return checker.check(argument);
    known->second.used = known->second.loaded = true;
    ValueInfo value{known->second.type, known->second.scope};
    checker.resolved.values[argument.id] = value;
    return value;
  }

  bool checkType(const std::string &name, Type wanted, const Expr &argument,
                 const ValueInfo &value) {
    if (value.type == wanted || (wanted == Type::Real && value.type == Type::Int))
      return true;
    return fail(argument.at,
                "expected " + withArticle(wanted) + " for " + quoted(name) + " of " + opText() +
                    ", got " + withArticle(value.type),
                "pass a value of its type");
  }

  /// What the callee reads at an index is memory.
  bool checkGathered(const OperandInfo &operand, const Expr &argument) {
    auto *name = argument.as<Name>();
    auto known = name ? checker.symbols.find(name->name) : checker.symbols.end();
    bool isRead = known != checker.symbols.end() && known->second.declaration &&
                  !language::info(known->second.declaration->role).assigned &&
                  hasAxesOf(operand, checker.axesOf(*known->second.declaration));
    if (!isRead)
      return fail(argument.at,
                  "expected an operand that is only read, with the axes of " +
                      quoted(operand.name) + " of " + opText() +
                      ", which reads it at an index, got " +
                      (name ? quoted(name->name) : "a value"),
                  "pass an in operand as it is");
    known->second.gathered = true;
    checker.resolved.info.needsAxes = true;
    return true;
  }

  /// Axis by axis the same of the header, one place, or one of its own.
  bool hasAxesOf(const OperandInfo &operand, const std::vector<std::string> &own) const {
    if (own.size() != operand.axes.size())
      return false;
    for (size_t i = 0; i < own.size(); ++i) {
      const std::vector<std::string> &header = info().axes;
      size_t number =
          size_t(std::find(header.begin(), header.end(), operand.axes[i]) - header.begin());
      std::optional<size_t> wanted =
          number < header.size() ? std::optional(out->axes[number][0]) : std::nullopt;
      if (checker.axisNumber(own[i]) != wanted || (own[i] == "1") != (operand.axes[i] == "1"))
        return false;
    }
    return true;
  }

  bool checkHyper(const HyperInfo &hyper) {
    auto bound = out->arguments.find(hyper.name);
    if (bound == out->arguments.end())
      return hyper.value || fail(expr.at,
                                 "expected an argument for hyper " + quoted(hyper.name) + " of " +
                                     opText() + ", which has no default, got none",
                                 "write " + hyper.name + " = value");
    std::optional<ValueInfo> value = checker.check(*bound->second);
    if (!value || !checkType(hyper.name, hyper.type, *bound->second, *value))
      return false;
    if (!value->scope.isUniform())
      return fail(bound->second->at,
                  "expected a value of the launch or the tensor for hyper " + quoted(hyper.name) +
                      " of " + opText() + ", got one of scope " +
                      value->scope.print(checker.op.domain.axes),
                  "pass it as an in operand");
    auto *number = bound->second->as<Number>();
    if (number && !hyper.range.contains(number->value))
      return fail(bound->second->at,
                  "expected " + hyper.name + " " + hyper.range.print() + " of " + opText() +
                      ", got " + printNumber(number->value),
                  "its default is " + (hyper.value ? printNumber(*hyper.value) : "not set"));
    return true;
  }

  // --- Results ---------------------------------------------------------------------------------

  std::optional<ValueInfo> resultOf(const Expr *member) {
    std::vector<std::string> outs, all;
    for (const OperandInfo &operand : info().operands) {
      if (operand.role == Role::Out)
        outs.push_back(operand.name);
      if (isOutput(operand))
        all.push_back("." + operand.name);
    }
    const Member *named = member ? member->as<Member>() : nullptr;
    std::string name = named ? named->name : outs.size() == 1 ? outs[0] : "";
    if (std::find(all.begin(), all.end(), "." + name) == all.end()) {
      fail(named ? member->at : expr.at,
           "expected an output of " + opText() + ", got " +
               (named ? quoted(name) : std::to_string(outs.size()) + " of them"),
           "write " + alternatives(all));
      return std::nullopt;
    }
    const OperandInfo &operand = *info().operand(name);
    return ValueInfo{operand.type, mapped(operand.scope), std::nullopt, isAcross(name)};
  }

  bool isAcross(const std::string &name) const {
    for (const Assignment *assignment : out->op.body)
      if (assignment->name == name)
        return out->op.values[assignment->value->id].across;
    return false;
  }

  Checker &checker;
  const Expr &expr;
  const OpCall &call;
  const Op &callee;
  std::shared_ptr<ResolvedCall> out = std::make_shared<ResolvedCall>();
};

std::optional<ValueInfo> Checker::checkCall(const Expr &expr, const OpCall &call,
                                            const Expr *member) {
  if (!op.callees.count(call.op)) // refused before this pass runs
    return std::nullopt;
  std::optional<ValueInfo> value = CallChecker(*this, expr, call).run(member);
  if (value)
    resolved.values[expr.id] = *value;
  return value;
}

} // namespace fw::language
