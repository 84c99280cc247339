#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

namespace fw::language {

static std::string described(const Declaration &declaration) {
  return std::string(info(declaration.role).name) + " " + quoted(declaration.name);
}

bool Checker::isNew(Offset at, const std::string &name) {
  auto known = symbols.find(name);
  if (known == symbols.end())
    return true;
  error(at,
        "expected a new name, got " + quoted(name) + ", declared on " + lineOf(known->second.at),
        "names are declared once, choose another one");
  return false;
}

void Checker::declareOption(const OptionDeclaration &option) {
  if (!isNew(option.at, option.name))
    return;
  Symbol symbol{option.at};
  symbol.option = &option;
  symbols.emplace(option.name, std::move(symbol));
  resolved.info.options.push_back({option.name, option.values});
}

void Checker::declare(const Declaration &declaration) {
  // Not one after the other with &&: each rule is a mistake of its own.
  bool isFine = isNew(declaration.at, declaration.name);
  isFine &= checkRole(declaration);
  isFine &= checkAxes(declaration);
  isFine &= checkValue(declaration);
  isFine &= checkRange(declaration);
  if (!isFine && symbols.count(declaration.name))
    return;
  Symbol symbol{declaration.at};
  symbol.declaration = &declaration;
  symbol.type = declaration.role == Role::Step ? Type::Int : declaration.type;
  symbol.scope = isFine ? scopeOf(declaration) : Scope::element(op.domain.axes.size());
  symbols.emplace(declaration.name, std::move(symbol));
  declared.push_back(declaration.name);
}

bool Checker::checkRole(const Declaration &declaration) {
  const RoleInfo &role = info(declaration.role);
  if (role.axes && op.domain.kind != Domain::Kind::Rows) {
    error(declaration.at,
          "expected an operand of an op over elements, got " + described(declaration),
          "row and column operands belong to ops over rows; write in");
    return false;
  }
  if (role.scalar && declaration.axes) {
    error(declaration.at, "expected a scalar, got axes for " + described(declaration),
          "a step or a hyper has one value; remove the axes");
    return false;
  }
  if (declaration.role != Role::Step)
    return true;
  if (declaration.typeAt) {
    error(declaration.typeAt, "expected no type, got one for " + described(declaration),
          "a step is an int");
    return false;
  }
  for (const std::string &name : declared)
    if (symbols.at(name).declaration->role == Role::Step) {
      error(declaration.at,
            "expected one step, got " + quoted(declaration.name) + " besides " + quoted(name),
            "an op counts its steps once");
      return false;
    }
  return true;
}

static bool isUniformWord(const std::string &axis) {
  return axis == "tensor" || axis == "all" || axis == "world";
}

/// Brackets say that an operand has one value per tensor, or one in all, or its own axes. In an op
/// over scalars there is nothing but one value in all.
bool Checker::checkAxes(const Declaration &declaration) {
  if (info(declaration.role).scalar)
    return true;
  if (hasAxes() && !(declaration.axes && declaration.axes->size() == 1 &&
                     isUniformWord(declaration.axes->front().name)))
    return checkOwnAxes(declaration);
  return (!declaration.axes && !isScalarsOnly()) || checkUniformAxes(declaration);
}

bool Checker::checkUniformAxes(const Declaration &declaration) {
  bool isKnown = declaration.role == Role::In || declaration.role == Role::Out ||
                 declaration.role == Role::State;
  std::string axis = declaration.axes ? declaration.axes->front().name : "all";
  if (!isKnown && declaration.axes) {
    error(declaration.axes->front().at,
          "expected one value per element, got [" + axis + "] for " + described(declaration),
          "only in, out and state operands have one value per tensor or in all");
    return false;
  }
  if (!isKnown) {
    error(declaration.at,
          "expected an operand of an op over scalars, got " + described(declaration),
          "an op over [] has in, out and state operands; write in or state");
    return false;
  }
  if (axis == "world") {
    error(declaration.axes->front().at,
          "expected [tensor] or [all], got [world] for " + described(declaration),
          "each rank has its own memory: write [all], and reduce with [world]");
    return false;
  }
  if (axis == "tensor" && isScalarsOnly()) {
    error(declaration.axes->front().at,
          "expected [all], got [tensor] for " + described(declaration),
          "an op over [] has no tensors; remove the brackets");
    return false;
  }
  return true;
}

Scope Checker::scopeOf(const Declaration &declaration) const {
  if (info(declaration.role).scalar)
    return Scope::launch();
  if (isScalarsOnly())
    return Scope::all();
  if (declaration.axes && isUniformWord(declaration.axes->front().name))
    return declaration.axes->front().name == "tensor" ? Scope::tensor() : Scope::all();
  return hasAxes() ? scopeOfAxes(axesOf(declaration)) : Scope::element(op.domain.axes.size());
}

bool Checker::checkValue(const Declaration &declaration) {
  bool mayBeOptional = declaration.role == Role::In || declaration.role == Role::Row ||
                       declaration.role == Role::Column;
  if (declaration.optional && !mayBeOptional) {
    error(declaration.optionalAt,
          "expected a required operand, got 'optional' for " + described(declaration),
          "only in, row and column operands may be absent");
    return false;
  }
  if (declaration.optional && !declaration.value) {
    error(declaration.optionalAt,
          "expected a neutral value before 'optional', got none for " + described(declaration),
          "write " + declaration.name + " = 1 optional");
    return false;
  }
  bool mayHaveValue =
      declaration.optional || declaration.role == Role::State || declaration.role == Role::Hyper;
  if (declaration.value && !mayHaveValue) {
    error(declaration.valueAt, "expected no value, got one for " + described(declaration),
          mayBeOptional ? "a neutral value is followed by 'optional'"
                        : "only states, hypers and optional operands have a value");
    return false;
  }
  return !declaration.value || checkValueType(declaration);
}

bool Checker::checkValueType(const Declaration &declaration) {
  bool isBool = declaration.value->type == Type::Bool;
  bool isInt = declaration.type == Type::Int;
  if (isInt && declaration.value->type == Type::Real) {
    error(declaration.valueAt,
          "expected an int for " + described(declaration) + ", got " +
              printNumber(declaration.value->value),
          "write it without point and exponent, or declare a real");
    return false;
  }
  if (isBool == (declaration.type == Type::Bool))
    return true;
  if (isBool)
    error(declaration.valueAt, "expected a number for " + described(declaration) + ", got a bool",
          declaration.role == Role::Hyper
              ? "write 0 or 1, or declare a bool: " + declaration.name +
                    " : bool = " + (declaration.value->value ? "true" : "false")
              : "write 0 or 1");
  else
    error(declaration.valueAt,
          "expected true or false for " + described(declaration) + ", got " +
              printNumber(declaration.value->value),
          declaration.value->value != 0 ? "write true" : "write false");
  return false;
}

bool Checker::checkRange(const Declaration &declaration) {
  if (!declaration.range)
    return true;
  if (declaration.role != Role::Hyper) {
    error(declaration.rangeAt, "expected no range, got one for " + described(declaration),
          "only hypers have a range");
    return false;
  }
  if (declaration.type == Type::Bool) {
    error(declaration.rangeAt, "expected no range, got one for bool " + quoted(declaration.name),
          "a bool is true or false, remove the range");
    return false;
  }
  if (declaration.range->isEmpty()) {
    error(declaration.rangeAt,
          "expected a range that holds a value, got " + declaration.range->print(),
          "the lower bound stands first");
    return false;
  }
  if (declaration.value && !declaration.range->contains(declaration.value->value)) {
    error(declaration.valueAt,
          "expected a default " + declaration.range->print() + ", got " +
              printNumber(declaration.value->value),
          "change the default or the range");
    return false;
  }
  return true;
}

Diagnostic Usage::complaint() const {
  if (declaration)
    return {Severity::Error, at, "expected a use of " + described(*declaration) + ", got none",
            "use it or remove it"};
  return {Severity::Warning, at, "expected a use of " + quoted(*name) + ", got none",
          "remove the statement"};
}

/// Operands that are not used or never written cost memory traffic for nothing, for each
/// combination that has them; scalars and names only if no combination uses them.
void Checker::checkUse(const std::string &name, const Symbol &symbol) {
  if (symbol.option)
    return;
  Usage usage{symbol.at, &name, symbol.declaration, symbol.used};
  if (!symbol.declaration || info(symbol.declaration->role).scalar)
    return found.usages.push_back(usage);
  const RoleInfo &role = info(symbol.declaration->role);
  if (role.assigned && !symbol.assignedAt)
    error(symbol.at, "expected an assignment to " + described(*symbol.declaration) + ", got none",
          "assign it or remove it");
  else if (!role.assigned && !symbol.used)
    found.diagnostics.push_back(usage.complaint());
}

static Access accessOf(bool loaded, bool assigned) {
  if (loaded && assigned)
    return Access::ReadWrite;
  return assigned ? Access::Write : Access::Read;
}

static std::optional<double> numberOf(const std::optional<Literal> &literal) {
  return literal ? std::optional(literal->value) : std::nullopt;
}

void Checker::collectInfo() {
  OpInfo &out = resolved.info;
  out.name = op.name;
  out.summary = op.summary;
  if (hasAxes()) {
    out.axes = op.domain.axes;
    out.outer = op.domain.outer;
  }
  for (const std::string &name : declared) {
    const Symbol &symbol = symbols.at(name);
    const Declaration &declaration = *symbol.declaration;
    if (declaration.role == Role::Step) {
      out.step = name;
    } else if (declaration.role == Role::Hyper) {
      out.hypers.push_back({name, declaration.type, numberOf(declaration.value),
                            declaration.range.value_or(Range{})});
    } else {
      Access access = accessOf(symbol.loaded, symbol.assignedAt.has_value());
      OperandInfo operand{name,         declaration.role, access,      declaration.type,
                          symbol.scope, std::nullopt,     std::nullopt};
      if (hasAxes() && !symbol.scope.isUniform())
        operand.axes = takesScopeOfValue(symbol) ? namesOf(symbol.scope) : axesOf(declaration);
      operand.gathered = symbol.gathered;
      if (declaration.optional)
        operand.neutral = numberOf(declaration.value);
      if (declaration.role == Role::State)
        operand.initial = numberOf(declaration.value).value_or(0);
      out.operands.push_back(std::move(operand));
    }
  }
  if (out.draws)
    addDrawScalars();
}

/// An op that draws random numbers has the key and the part of the counter that a launch chooses.
void Checker::addDrawScalars() {
  const double most[] = {0x1p53, 0x1p32 - 1};
  size_t k = 0;
  for (const char *name : {"seed", "offset"})
    resolved.info.hypers.push_back({name, Type::Int, std::nullopt,
                                    Range{Range::Bound{0, false}, Range::Bound{most[k++], false}}});
}

} // namespace fw::language
