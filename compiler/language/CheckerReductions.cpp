#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

namespace fw::language {

std::optional<ValueInfo> Checker::checkReduce(const Expr &expr, const Reduce &reduce) {
  std::optional<ValueInfo> value = check(*reduce.value);
  if (!checkKept(expr, reduce) || !value || !checkReduced(reduce, *value))
    return std::nullopt;
  bool isBool = reduce.kind == ReduceKind::Any || reduce.kind == ReduceKind::All;
  bool isTensor = reduce.kept->front().name == "tensor";
  return ValueInfo{isBool ? Type::Bool : Type::Real, isTensor ? Scope::tensor() : Scope::all()};
}

/// The scope has to be written; that it is one of the three is refused elsewhere.
bool Checker::checkKept(const Expr &expr, const Reduce &reduce) {
  std::string name(spelling(reduce.kind));
  if (isScalarsOnly()) {
    error(expr.at,
          "expected a value of scalars, got reduction " + quoted(name) + " in an op over []",
          "reduce in an op over elements and pass the result as an in");
    return false;
  }
  if (reduce.kept)
    return true;
  error(expr.at, "expected the scope that " + quoted(name) + " keeps, got none",
        "write " + name + "[tensor](x), " + name + "[all](x) or " + name + "[world](x)");
  return false;
}

bool Checker::checkReduced(const Reduce &reduce, const ValueInfo &value) {
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
  if (value.scope.isElement())
    return true;
  error(reduce.value->at,
        "expected a value that varies by element for " + quoted(name) + ", got one of scope " +
            value.scope.print(op.domain.axes) + ", whose reduction arrives in a later version",
        "reduce a value of the elements");
  return false;
}

/// index(tensor), size(tensor), size(all); other axes are refused elsewhere.
std::optional<ValueInfo> Checker::checkPlace(const Expr &expr, const Apply &apply) {
  if (isScalarsOnly()) {
    error(expr.at,
          "expected a value of scalars, got " + quoted(info(apply.function).spelling) +
              " in an op over []",
          "an op over [] has no tensors");
    return std::nullopt;
  }
  bool isTensor = apply.arguments[0]->as<Word>()->word == "tensor";
  return ValueInfo{Type::Int, isTensor ? Scope::tensor() : Scope::all()};
}

} // namespace fw::language
