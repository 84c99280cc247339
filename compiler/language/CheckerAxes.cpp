// The axes of an op's header, and which of them its operands have.
#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

/// As many as the runtime takes dimensions apart for.
static constexpr size_t maxAxes = 8;

static std::string described(const Declaration &declaration) {
  return std::string(info(declaration.role).name) + " " + quoted(declaration.name);
}

static bool isUniformWord(const std::string &axis) {
  return axis == "tensor" || axis == "all" || axis == "world";
}

// --- The header ----------------------------------------------------------------------------------

void Checker::checkDomain() {
  const std::vector<std::string> &axes = op.domain.axes;
  if (axes.size() > maxAxes)
    return error(op.domain.at,
                 "expected at most " + std::to_string(maxAxes) + " axes, got " +
                     std::to_string(axes.size()),
                 "axes that stand side by side in every operand are one axis");
  for (size_t i = 0; i < axes.size(); ++i)
    if (std::count(axes.begin(), axes.begin() + i, axes[i]))
      error(op.domain.at, "expected different axes, got " + quoted(axes[i]) + " twice",
            "rename one of them");
}

std::optional<size_t> Checker::axisNumber(const std::string &name) const {
  auto found = std::find(op.domain.axes.begin(), op.domain.axes.end(), name);
  if (found == op.domain.axes.end())
    return std::nullopt;
  return size_t(found - op.domain.axes.begin());
}

std::string Checker::axesText() const { return alternatives(op.domain.axes); }

/// What a row keeps: the axes before `;`.
Scope Checker::outerScope() const {
  Scope::Divisors divisors(op.domain.axes.size(), 0);
  std::fill(divisors.begin(), divisors.begin() + op.domain.outer, 1);
  return Scope::axes(std::move(divisors));
}

bool Checker::hasAllOuter(const Scope &scope) const { return outerScope().isWithin(scope); }

// --- Axes of an operand --------------------------------------------------------------------------

std::vector<std::string> Checker::axesOf(const Declaration &declaration) const {
  if (const char *implied = info(declaration.role).axes)
    return {implied};
  if (!declaration.axes)
    return op.domain.axes;
  std::vector<std::string> names;
  for (const Axis &axis : *declaration.axes)
    names.push_back(axis.name);
  return names;
}

std::vector<std::string> Checker::namesOf(const Scope &scope) const {
  std::vector<std::string> names;
  for (size_t axis = 0; axis < op.domain.axes.size(); ++axis)
    if (scope.divisors()[axis] == 1)
      names.push_back(op.domain.axes[axis]);
  return names;
}

Scope Checker::scopeOfAxes(const std::vector<std::string> &axes) const {
  Scope::Divisors divisors(op.domain.axes.size(), 0);
  for (const std::string &axis : axes)
    if (std::optional<size_t> number = axisNumber(axis))
      divisors[*number] = 1;
  return Scope::axes(std::move(divisors));
}

/// An axis that the header does not have: only a read at an index gets along it.
std::optional<std::string> Checker::freeAxis(const Declaration &declaration) const {
  for (const std::string &axis : axesOf(declaration))
    if (axis != "1" && !axisNumber(axis) && !isUniformWord(axis))
      return axis;
  return std::nullopt;
}

bool Checker::checkOwnAxes(const Declaration &declaration) {
  if (!declaration.axes)
    return true;
  const std::vector<Axis> &axes = *declaration.axes;
  if (info(declaration.role).axes) {
    error(axes.front().at, "expected no axes, got some for " + described(declaration),
          "a " + std::string(info(declaration.role).name) + " has its own; write in " +
              declaration.name + "[...]");
    return false;
  }
  if (axes.size() > maxAxes) {
    error(axes.front().at,
          "expected at most " + std::to_string(maxAxes) + " axes, got " +
              std::to_string(axes.size()) + " for " + described(declaration),
          "remove some");
    return false;
  }
  for (const Axis &axis : axes) {
    std::string problem;
    if (isUniformWord(axis.name))
      problem = "'" + axis.name + "' among others; it stands alone, as in " + declaration.name +
                "[tensor]";
    else if (axis.name == "group" || axis.divisor != 1)
      problem = "a part of one for " + described(declaration) +
                ", which arrives in a later version; give the operand the whole axis";
    else if (axis.name != "1" && !axisNumber(axis.name) && declaration.role != Role::In)
      problem = quoted(axis.name) + " for " + described(declaration) +
                "; only an in operand has an axis of its own, to be read at an index";
    size_t semicolon = problem.find("; ");
    if (!problem.empty()) {
      error(axis.at,
            "expected axes of the header (" + axesText() + ") or 1, got " +
                problem.substr(0, semicolon),
            problem.substr(semicolon + 2));
      return false;
    }
  }
  return checkHeaderOrder(declaration);
}

/// Memory of another order is a view: its strides come with the tensor.
bool Checker::checkHeaderOrder(const Declaration &declaration) {
  std::optional<size_t> before;
  const Axis *own = nullptr;
  for (const Axis &axis : *declaration.axes) {
    std::optional<size_t> number = axisNumber(axis.name);
    if (number && before && *number <= *before) {
      error(axis.at,
            "expected the axes in the order of the header, each once, got " + quoted(axis.name) +
                " behind " + quoted(op.domain.axes[*before]),
            "a transposed tensor is a view, its strides come with it");
      return false;
    }
    before = number ? number : before;
    if (axis.name != "1" && !number && own) {
      error(axis.at,
            "expected one axis of its own, got " + quoted(own->name) + " and " + quoted(axis.name),
            "a read at an index gets along one");
      return false;
    }
    own = axis.name != "1" && !number ? &axis : own;
  }
  if (before || own)
    return true;
  error(declaration.axes->front().at, "expected an axis, got 1 alone for " + described(declaration),
        "write " + declaration.name + "[tensor] for one value per tensor");
  return false;
}

// --- Uses ----------------------------------------------------------------------------------------

/// A value that is made of all rows cannot be had by a row.
bool Checker::checkInwards(Offset at, const ValueInfo &value, const Scope &scope) {
  if (!value.across || scope.isUniform())
    return true;
  for (size_t axis = 0; axis < op.domain.outer; ++axis) {
    bool isKept = !value.scope.isUniform() && value.scope.divisors()[axis] == 1;
    if (isKept || scope.divisors()[axis] != 1)
      continue;
    error(at,
          "expected a value that a row can have, got one of scope " +
              value.scope.print(op.domain.axes) + " used inwards: it is made over " +
              quoted(op.domain.axes[axis]) + ", so that every row would wait for all others",
          "store it, and read it in an op of its own; or put the axis behind ';'");
    return false;
  }
  return true;
}

/// Reading an operand as it is, without an index.
bool Checker::checkRead(Offset at, const std::string &name, const Symbol &symbol) {
  if (!symbol.declaration || !hasAxes() || symbol.scope.isUniform() ||
      info(symbol.declaration->role).scalar)
    return true;
  std::optional<std::string> free = freeAxis(*symbol.declaration);
  if (!free)
    return true;
  std::vector<std::string_view> names(op.domain.axes.begin(), op.domain.axes.end());
  std::optional<std::string> near = nearest(*free, names);
  error(at,
        "expected a place on axis " + quoted(*free) + " of " + quoted(name) +
            ", which is not of the header, got none",
        near ? "did you mean axis " + quoted(*near) : "read it at an index: " + name + "[i]");
  return false;
}

} // namespace fw::language
