// Places: where a value stands, reads at an index, pairs of places, numbers drawn for a place.
#include "compiler/language/Checker.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

/// index(tensor), size(tensor), size(all), and axes; others are refused elsewhere.
std::optional<ValueInfo> Checker::checkPlace(const Expr &expr, const Apply &apply) {
  if (isScalarsOnly()) {
    error(expr.at,
          "expected a value of scalars, got " + quoted(info(apply.function).spelling) +
              " in an op over []",
          "an op over [] has no tensors");
    return std::nullopt;
  }
  const std::string &word = apply.arguments[0]->as<Word>()->word;
  bool isSize = apply.function == Function::Size;
  if (word == "tensor" || (isSize && word == "all"))
    return ValueInfo{Type::Int, word == "tensor" ? Scope::tensor() : Scope::all()};
  return checkAxisPlace(apply);
}

std::optional<ValueInfo> Checker::checkAxisPlace(const Apply &apply) {
  const std::string &word = apply.arguments[0]->as<Word>()->word;
  bool isSize = apply.function == Function::Size;
  std::optional<size_t> axis = axisNumber(word);
  bool isOwn = std::any_of(symbols.begin(), symbols.end(), [&](const auto &entry) {
    const Declaration *declaration = entry.second.declaration;
    return declaration && !declaration->optional && !info(declaration->role).scalar &&
           freeAxis(*declaration) == word && !entry.second.scope.isUniform();
  });
  if (isSize && (axis || isOwn))
    return ValueInfo{Type::Int, Scope::tensor()};
  if (axis) {
    Scope::Divisors divisors(op.domain.axes.size(), 0);
    divisors[*axis] = 1;
    return ValueInfo{Type::Int, Scope::axes(std::move(divisors))};
  }
  std::vector<std::string_view> names(op.domain.axes.begin(), op.domain.axes.end());
  std::optional<std::string> near = nearest(word, names);
  error(apply.arguments[0]->at, "expected an axis of the header or tensor, got " + quoted(word),
        near ? "did you mean " + quoted(*near) : "the axes are " + axesText());
  return std::nullopt;
}

// --- Reads at an index ---------------------------------------------------------------------------

std::optional<ValueInfo> Checker::checkGather(const Expr &expr, const Gather &gather) {
  auto known = symbols.find(gather.operand);
  if (known == symbols.end()) {
    reportUnknown(expr, gather.operand);
    return std::nullopt;
  }
  Symbol &symbol = known->second;
  bool isRead = symbol.declaration && !info(symbol.declaration->role).scalar &&
                !info(symbol.declaration->role).assigned;
  symbol.used = true;
  if (!isRead) {
    error(expr.at,
          "expected an operand that is only read before an index, got " + quoted(gather.operand),
          "only in, row, column and grad operands are read at an index");
    return std::nullopt;
  }
  if (!hasAxes() || symbol.scope.isUniform()) {
    error(expr.at,
          "expected an operand with axes before an index, got " + quoted(gather.operand) +
              (hasAxes() ? ", one value" : " of an op over elements, whose values have no places"),
          hasAxes() ? "remove the index" : "write the op over rows, or over its axes");
    return std::nullopt;
  }
  return checkGathered(expr, gather, symbol);
}

/// The index takes the place on the first axis that it does not vary with itself.
std::optional<ValueInfo> Checker::checkGathered(const Expr &expr, const Gather &gather,
                                                Symbol &symbol) {
  if (gather.indices.size() != 1) {
    error(gather.indices[1]->at, "expected one index, got " + std::to_string(gather.indices.size()),
          "an index takes the place on one axis, the others stay");
    return std::nullopt;
  }
  const Expr &index = *gather.indices[0];
  std::optional<ValueInfo> place = check(index);
  if (!place)
    return std::nullopt;
  if (place->type != Type::Int) {
    error(index.at, "expected an int as index, got " + withArticle(place->type),
          "ints are literals without a point, the step, index, size, and what is declared an int");
    return std::nullopt;
  }
  if (!place->scope.isWithin(outerScope())) {
    error(index.at,
          "expected an index of a row or further out, got one of scope " +
              place->scope.print(op.domain.axes) + ", whose reads the language refuses",
          "reads at places that vary along a row are not in the order of memory");
    return std::nullopt;
  }
  std::vector<std::string> axes = axesOf(*symbol.declaration);
  std::optional<size_t> replaced = gatheredAxis(axes, op.domain.axes, place->scope);
  if (!replaced) {
    error(expr.at,
          "expected an axis that the index does not vary with, got none of " +
              quoted(gather.operand),
          "remove the index");
    return std::nullopt;
  }
  axes.erase(axes.begin() + *replaced);
  symbol.gathered = true;
  symbol.loaded = true;
  resolved.info.needsAxes = true;
  return ValueInfo{symbol.type, Scope::join(scopeOfAxes(axes), place->scope), std::nullopt,
                   place->across};
}

// --- Pairs and draws -----------------------------------------------------------------------------

std::optional<ValueInfo> Checker::checkSwapPairs(const Expr &expr, const Apply &apply) {
  const std::string &mode = apply.arguments[1]->as<Word>()->word;
  if (mode != "half" && mode != "interleaved") {
    error(apply.arguments[1]->at, "expected half or interleaved, got " + quoted(mode),
          "write swap_pairs(x, half) or swap_pairs(x, interleaved)");
    return std::nullopt;
  }
  std::optional<ValueInfo> value = check(*apply.arguments[0]);
  std::optional<ValueInfo> count =
      apply.arguments.size() > 2 ? check(*apply.arguments[2]) : ValueInfo{Type::Int};
  if (!value || !count)
    return std::nullopt;
  bool hasLast = hasAxes() && op.domain.outer < op.domain.axes.size();
  if (!hasLast) {
    error(expr.at, "expected 'swap_pairs' in an op whose rows span an axis, got it in another",
          "write the op over rows");
    return std::nullopt;
  }
  if (value->type == Type::Bool || value->scope.isUniform() ||
      value->scope.divisors().back() != 1) {
    error(apply.arguments[0]->at,
          "expected a number that varies along " + quoted(op.domain.axes.back()) +
              " for 'swap_pairs', got " +
              (value->type == Type::Bool ? "a bool"
                                         : "one of scope " + value->scope.print(op.domain.axes)),
          "pairs are places on the last axis");
    return std::nullopt;
  }
  if (count->type != Type::Int || !count->scope.isUniform()) {
    error(apply.arguments[2]->at,
          "expected an int of the launch or the tensor as the number of places in pairs, got " +
              withArticle(count->type) + " of scope " + count->scope.print(op.domain.axes),
          "write an int literal, an int hyper or size(...)");
    return std::nullopt;
  }
  resolved.info.needsAxes = resolved.info.swaps = true;
  return ValueInfo{Type::Real, value->scope, std::nullopt, value->across};
}

std::optional<ValueInfo> Checker::checkDraw(const Expr &expr, const Apply &apply) {
  if (isScalarsOnly()) {
    error(expr.at,
          "expected a value of scalars, got " + quoted(info(apply.function).spelling) +
              " in an op over []",
          "numbers are drawn for elements; pass one as a hyper");
    return std::nullopt;
  }
  resolved.info.draws = true;
  return ValueInfo{apply.function == Function::Bits ? Type::Int : Type::Real,
                   Scope::element(op.domain.axes.size())};
}

} // namespace fw::language
