#include "compiler/language/Parser.h"

#include "compiler/language/Text.h"

#include <limits>

namespace fw::language {

bool Parser::parseOptions(std::vector<Statement> &body) {
  tokens.next();
  do {
    std::optional<Token> name = expectNewName("the name of the option");
    if (!name || !expect(TokenKind::Assign, "write option name = default | other"))
      return false;
    OptionDeclaration option{name->at, std::string(name->text), {}};
    do {
      if (!parseOptionValue(option))
        return false;
    } while (accept(TokenKind::Bar));
    if (option.values.size() == 1 && (option.values[0] == "false" || option.values[0] == "true"))
      option.values.push_back(option.values[0] == "false" ? "true" : "false");
    body.push_back({std::move(option)});
  } while (accept(TokenKind::Comma));
  return true;
}

bool Parser::parseOptionValue(OptionDeclaration &option) {
  TokenKind kind = tokens.peek().kind;
  if (kind != TokenKind::Name && kind != TokenKind::True && kind != TokenKind::False)
    return fail("a value of the option", "values are names, true or false");
  option.values.emplace_back(tokens.next().text);
  return true;
}

bool Parser::parseDeclarations(Role role, std::vector<Statement> &body) {
  do {
    Declaration declaration{};
    declaration.role = role;
    if (!parseDeclaration(declaration))
      return false;
    body.push_back({std::move(declaration)});
    if (!accept(TokenKind::Comma))
      return true;
  } while (!findRole(tokens.peek().text));
  return fail("a name", "separate declarations by ';' or a new line, not by ','");
}

bool Parser::parseDeclaration(Declaration &declaration) {
  std::optional<Token> name = expectNewName("a name");
  if (!name)
    return false;
  declaration.at = name->at;
  declaration.name = std::string(name->text);
  if (tokens.peek().kind == TokenKind::LeftBracket && !(declaration.axes = parseAxes()))
    return false;
  if (accept(TokenKind::Colon) && !parseType(declaration))
    return false;
  if (accept(TokenKind::Assign)) {
    declaration.valueAt = tokens.peek().at;
    if (!(declaration.value = parseLiteral()))
      return false;
  }
  declaration.optionalAt = tokens.peek().at;
  declaration.optional = accept(TokenKind::Optional);
  declaration.rangeAt = tokens.peek().at;
  TokenKind kind = tokens.peek().kind;
  bool compares = kind == TokenKind::Less || kind == TokenKind::LessEqual ||
                  kind == TokenKind::Greater || kind == TokenKind::GreaterEqual;
  if (compares || isName("in"))
    return (declaration.range = parseRange()).has_value();
  return true;
}

bool Parser::parseType(Declaration &declaration) {
  declaration.typeAt = tokens.peek().at;
  for (Type type : {Type::Real, Type::Bool, Type::Int})
    if (isName(spelling(type))) {
      declaration.type = type;
      tokens.next();
      return true;
    }
  return fail("a type", "types are real, bool and int; the storage dtype comes with the request");
}

/// A number or inf, with an optional sign, or a truth value.
std::optional<Literal> Parser::parseLiteral() {
  if (accept(TokenKind::True))
    return Literal{1, Type::Bool};
  if (accept(TokenKind::False))
    return Literal{0, Type::Bool};
  double sign = accept(TokenKind::Minus) ? -1 : 1;
  if (accept(TokenKind::Inf))
    return Literal{sign * std::numeric_limits<double>::infinity(), Type::Real};
  if (tokens.peek().kind != TokenKind::Number) {
    fail("a number", "defaults and bounds are constants");
    return std::nullopt;
  }
  Token number = tokens.next();
  bool isInt = number.text.find_first_of(".eE") == std::string_view::npos;
  std::optional<double> value = numberOf(number);
  return value ? std::optional(Literal{sign * *value, isInt ? Type::Int : Type::Real})
               : std::nullopt;
}

std::optional<double> Parser::parseBound() {
  Offset at = tokens.peek().at;
  std::optional<Literal> literal = parseLiteral();
  if (!literal)
    return std::nullopt;
  if (literal->type != Type::Bool)
    return literal->value;
  diagnostics.error(at, "expected a number as bound, got a bool", "a bool has no range");
  return std::nullopt;
}

/// `>= 0`, `> 0`, `<= 1`, `< 1`, `in [0, 1)`
std::optional<Range> Parser::parseRange() {
  Range range;
  Token comparison = tokens.next();
  if (comparison.text == "in")
    return parseInterval(range) ? std::optional(range) : std::nullopt;
  std::optional<double> value = parseBound();
  if (!value)
    return std::nullopt;
  bool open = comparison.kind == TokenKind::Less || comparison.kind == TokenKind::Greater;
  bool low = comparison.kind == TokenKind::Greater || comparison.kind == TokenKind::GreaterEqual;
  (low ? range.low : range.high) = Range::Bound{*value, open};
  return range;
}

bool Parser::parseInterval(Range &range) {
  bool lowOpen = tokens.peek().kind == TokenKind::LeftParen;
  if (!accept(TokenKind::LeftParen) && !accept(TokenKind::LeftBracket))
    return fail("'[' or '('", "write in [0, 1), where ( and ) leave the bound out");
  std::optional<double> low = parseBound();
  if (!low || !expect(TokenKind::Comma, "a range is: in [low, high]"))
    return false;
  std::optional<double> high = parseBound();
  if (!high)
    return false;
  bool highOpen = tokens.peek().kind == TokenKind::RightParen;
  if (!accept(TokenKind::RightParen) && !accept(TokenKind::RightBracket))
    return fail("']' or ')'", "write in [0, 1), where ( and ) leave the bound out");
  range.low = Range::Bound{*low, lowOpen};
  range.high = Range::Bound{*high, highOpen};
  return true;
}

std::optional<std::vector<Axis>> Parser::parseAxes() {
  std::vector<Axis> axes;
  expect(TokenKind::LeftBracket);
  do {
    std::optional<Axis> axis = parseAxis();
    if (!axis)
      return std::nullopt;
    axes.push_back(std::move(*axis));
  } while (accept(TokenKind::Comma));
  if (!expect(TokenKind::RightBracket, "separate axes by ','"))
    return std::nullopt;
  return axes;
}

/// `column`, `column/128`, `group(128)`, or `1` for an axis with one place only
std::optional<Axis> Parser::parseAxis() {
  Token name = tokens.peek();
  if (name.kind != TokenKind::Name && name.text != "1") {
    fail("an axis", "axes are names of the header, 1, row, column, tensor or all");
    return std::nullopt;
  }
  tokens.next();
  Axis axis{std::string(name.text), 1, name.at};
  bool isGroup = name.text == "group";
  if (!isGroup && !accept(TokenKind::Slash))
    return axis;
  if (isGroup && !expect(TokenKind::LeftParen, "write group(128)"))
    return std::nullopt;
  Token divisor = tokens.peek();
  std::optional<double> value =
      divisor.kind == TokenKind::Number ? numberOf(divisor) : std::nullopt;
  if (!value || *value < 1 || *value > (1u << 30) ||
      divisor.text.find_first_of(".eE") != std::string_view::npos) {
    fail("a number of places from 1 to 2^30", "write column/128 or group(128)");
    return std::nullopt;
  }
  tokens.next();
  axis.divisor = static_cast<uint32_t>(*value);
  if (isGroup && !expect(TokenKind::RightParen, "write group(128)"))
    return std::nullopt;
  return axis;
}

} // namespace fw::language
