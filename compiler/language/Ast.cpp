#include "compiler/language/Ast.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

std::string_view spelling(Type type) {
  static constexpr std::string_view names[] = {"real", "bool", "int"};
  return names[static_cast<size_t>(type)];
}

std::string withArticle(Type type) {
  return (type == Type::Int ? "an " : "a ") + std::string(spelling(type));
}

bool OptionDeclaration::isBool() const {
  return values.size() == 2 && std::find(values.begin(), values.end(), "true") != values.end() &&
         std::find(values.begin(), values.end(), "false") != values.end();
}

bool Range::contains(double value) const {
  bool above = !low || value > low->value || (value == low->value && !low->open);
  bool below = !high || value < high->value || (value == high->value && !high->open);
  return above && below;
}

bool Range::isEmpty() const {
  if (!low || !high || low->value < high->value)
    return false;
  return low->value > high->value || low->open || high->open;
}

std::string Range::print() const {
  if (low && high)
    return std::string("in ") + (low->open ? "(" : "[") + printNumber(low->value) + ", " +
           printNumber(high->value) + (high->open ? ")" : "]");
  if (low)
    return (low->open ? "> " : ">= ") + printNumber(low->value);
  if (high)
    return (high->open ? "< " : "<= ") + printNumber(high->value);
  return "";
}

std::optional<int64_t> literalInt(const Expr &expr) {
  if (const Number *number = expr.as<Number>(); number && number->isInt)
    return static_cast<int64_t>(number->value);
  const Apply *apply = expr.as<Apply>();
  if (!apply || apply->function != Function::Negate)
    return std::nullopt;
  std::optional<int64_t> value = literalInt(*apply->arguments[0]);
  return value ? std::optional(-*value) : std::nullopt;
}

} // namespace fw::language
