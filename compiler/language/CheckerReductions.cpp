#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

std::optional<ValueInfo> Checker::checkReduce(const Expr &expr, const Reduce &reduce) {
  std::optional<ValueInfo> value = check(*reduce.value);
  std::optional<Scope> kept = checkKept(expr, reduce);
  if (!kept || !value || !checkReduced(reduce, *value, *kept))
    return std::nullopt;
  if (!checkInwards(reduce.value->at, *value, Scope::join(value->scope, *kept)))
    return std::nullopt;
  bool isBool = reduce.kind == ReduceKind::Any || reduce.kind == ReduceKind::All;
  bool across = !kept->isUniform() && (value->across || !hasAllOuter(*kept));
  return ValueInfo{isBool ? Type::Bool : Type::Real, *kept, std::nullopt, across};
}

static Scope uniformScope(const std::string &word) {
  return word == "tensor" ? Scope::tensor() : Scope::all();
}

static bool isUniformWord(const std::string &word) {
  return word == "tensor" || word == "all" || word == "world";
}

/// What is kept. Over elements it has to be written, and that it is one of the three is refused
/// elsewhere; over axes it is by default what stands before `;`.
std::optional<Scope> Checker::checkKept(const Expr &expr, const Reduce &reduce) {
  std::string name(spelling(reduce.kind));
  if (isScalarsOnly()) {
    error(expr.at,
          "expected a value of scalars, got reduction " + quoted(name) + " in an op over []",
          "reduce in an op over elements and pass the result as an in");
    return std::nullopt;
  }
  if (reduce.kept && reduce.kept->size() == 1 && isUniformWord(reduce.kept->front().name))
    return uniformScope(reduce.kept->front().name);
  if (hasAxes() && reduce.kept)
    return keptAxes(reduce);
  if (hasAxes() && op.domain.outer < op.domain.axes.size())
    return outerScope();
  error(expr.at, "expected the scope that " + quoted(name) + " keeps, got none",
        hasAxes()
            ? "write " + name + "[" + op.domain.axes[0] +
                  "](x), or put the axes that it runs over behind a ';' in the header"
            : "write " + name + "[tensor](x), " + name + "[all](x) or " + name + "[world](x)");
  return std::nullopt;
}

std::optional<Scope> Checker::keptAxes(const Reduce &reduce) {
  Scope::Divisors divisors(op.domain.axes.size(), 0);
  for (const Axis &axis : *reduce.kept) {
    std::optional<size_t> number = axisNumber(axis.name);
    if (axis.name == "group" || axis.divisor != 1) {
      error(axis.at,
            "expected a whole axis to keep, got a part of one, which arrives in a later version",
            "keep " + axesText() + ", tensor, all or world");
      return std::nullopt;
    }
    if (!number || divisors[*number]) {
      std::vector<std::string_view> names(op.domain.axes.begin(), op.domain.axes.end());
      std::optional<std::string> near = number ? std::nullopt : nearest(axis.name, names);
      error(axis.at,
            "expected " + axesText() + ", or tensor, all or world alone, got " + quoted(axis.name) +
                (number ? " twice" : ""),
            near ? "did you mean " + quoted(*near) : "the scope names the axes that are kept");
      return std::nullopt;
    }
    divisors[*number] = 1;
  }
  return Scope::axes(std::move(divisors));
}

bool Checker::checkReduced(const Reduce &reduce, const ValueInfo &value, const Scope &kept) {
  std::string name(spelling(reduce.kind));
  bool wantsBool = reduce.kind == ReduceKind::Any || reduce.kind == ReduceKind::All ||
                   reduce.kind == ReduceKind::Count;
  if (wantsBool != (value.type == Type::Bool)) {
    error(reduce.value->at,
          (wantsBool ? "expected a condition for " : "expected a number for ") + quoted(name) +
              ", got " + withArticle(value.type),
          wantsBool ? "compare it: x != 0" : "write if c then 1 else 0, or any, all or count");
    return false;
  }
  std::string scope = value.scope.print(op.domain.axes);
  if (hasAxes()) {
    if (!value.scope.isUniform() && Scope::join(value.scope, kept) != kept)
      return true;
    error(reduce.value->at,
          "expected a value that varies beyond the scope kept, " + kept.print(op.domain.axes) +
              ", for " + quoted(name) + ", got one of scope " + scope,
          "remove the reduction; size(axis) counts places");
    return false;
  }
  if (value.scope.isElement())
    return true;
  error(reduce.value->at,
        "expected a value that varies by element for " + quoted(name) + ", got one of scope " +
            scope + ", whose reduction arrives in a later version",
        "reduce a value of the elements");
  return false;
}

} // namespace fw::language
