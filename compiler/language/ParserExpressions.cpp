#include "compiler/language/Parser.h"

#include "compiler/language/Text.h"

#include <charconv>
#include <limits>

namespace fw::language {

namespace {
struct BinaryOperator {
  TokenKind token;
  unsigned level; ///< a higher level binds tighter
  Function function;
};
} // namespace

// `not` stands between `and` and the comparisons, the sign between products and powers.
static constexpr unsigned lowest = 1, belowNot = 2, comparisons = 3, products = 6;
static constexpr BinaryOperator binaryOperators[] = {
    {TokenKind::Or, 1, Function::Or},
    {TokenKind::And, belowNot, Function::And},
    {TokenKind::EqualEqual, comparisons, Function::Equal},
    {TokenKind::NotEqual, comparisons, Function::NotEqual},
    {TokenKind::Less, comparisons, Function::Less},
    {TokenKind::LessEqual, comparisons, Function::LessEqual},
    {TokenKind::Greater, comparisons, Function::Greater},
    {TokenKind::GreaterEqual, comparisons, Function::GreaterEqual},
    {TokenKind::ShiftLeft, 4, Function::ShiftLeft},
    {TokenKind::ShiftRight, 4, Function::ShiftRight},
    {TokenKind::Plus, 5, Function::Add},
    {TokenKind::Minus, 5, Function::Subtract},
    {TokenKind::Star, products, Function::Multiply},
    {TokenKind::Slash, products, Function::Divide},
    {TokenKind::Div, products, Function::IntDivide},
    {TokenKind::Mod, products, Function::Remainder},
};

static const BinaryOperator *binaryOperator(TokenKind kind, unsigned level) {
  for (const BinaryOperator &entry : binaryOperators)
    if (entry.token == kind && entry.level == level)
      return &entry;
  return nullptr;
}

const Expr *Parser::make(Offset at, decltype(Expr::node) node) {
  bool isLeaf = std::holds_alternative<Number>(node) || std::holds_alternative<Truth>(node) ||
                std::holds_alternative<Name>(node) || std::holds_alternative<Word>(node);
  if (!isLeaf && ++operations > maxOperations) {
    diagnostics.error(op->at, "expected at most 4096 operations in an op, got more",
                      "split the op");
    return nullptr;
  }
  auto id = static_cast<unsigned>(op->nodes.size());
  op->nodes.push_back(std::make_unique<const Expr>(Expr{at, id, std::move(node)}));
  return op->nodes.back().get();
}

const Expr *Parser::parseExpression() {
  return tokens.peek().kind == TokenKind::If ? parseSelect() : parseBinary(lowest);
}

/// An expression inside another.
const Expr *Parser::parseInner() {
  Nesting nesting(*this);
  return nesting.fits() ? parseExpression() : nullptr;
}

const Expr *Parser::parseSelect() {
  Offset at = tokens.next().at;
  const Expr *condition = parseInner();
  if (!condition || !expect(TokenKind::Then, "a select is: if c then a else b"))
    return nullptr;
  const Expr *ifTrue = parseInner();
  if (!ifTrue ||
      !expect(TokenKind::Else, "a select has a value for both cases: if c then a else b"))
    return nullptr;
  const Expr *ifFalse = parseInner();
  return ifFalse ? make(at, Select{condition, ifTrue, ifFalse}) : nullptr;
}

const Expr *Parser::parseBinary(unsigned level) {
  auto operand = [&] {
    if (level == belowNot)
      return parseNot();
    return level == products ? parseUnary() : parseBinary(level + 1);
  };
  const Expr *left = operand();
  while (left) {
    const BinaryOperator *found = binaryOperator(tokens.peek().kind, level);
    if (!found)
      return left;
    Offset at = tokens.next().at;
    const Expr *right = operand();
    left = right ? make(at, Apply{found->function, {left, right}}) : nullptr;
    if (left && level == comparisons && binaryOperator(tokens.peek().kind, level)) {
      fail("one comparison", "write a < b and b < c");
      return nullptr;
    }
  }
  return nullptr;
}

const Expr *Parser::parseNot() {
  if (tokens.peek().kind != TokenKind::Not)
    return parseBinary(comparisons);
  Nesting nesting(*this);
  if (!nesting.fits())
    return nullptr;
  Offset at = tokens.next().at;
  const Expr *value = parseNot();
  return value ? make(at, Apply{Function::Not, {value}}) : nullptr;
}

const Expr *Parser::parseUnary() {
  if (tokens.peek().kind != TokenKind::Minus)
    return parsePower();
  Nesting nesting(*this);
  if (!nesting.fits())
    return nullptr;
  Offset at = tokens.next().at;
  const Expr *value = parseUnary();
  return value ? make(at, Apply{Function::Negate, {value}}) : nullptr;
}

/// -x^2 is -(x^2); x^-2 and x^y^z = x^(y^z) are read too.
const Expr *Parser::parsePower() {
  const Expr *base = parsePostfix();
  if (!base || tokens.peek().kind != TokenKind::Caret)
    return base;
  Nesting nesting(*this);
  Offset at = tokens.next().at;
  const Expr *exponent = nesting.fits() ? parseUnary() : nullptr;
  return exponent ? make(at, Apply{Function::Power, {base, exponent}}) : nullptr;
}

const Expr *Parser::parsePostfix() {
  const Expr *value = parsePrimary();
  if (!value || tokens.peek().kind != TokenKind::Dot)
    return value;
  if (!value->as<OpCall>()) {
    fail("an operator", "'.name' picks an output of a call: rms_norm(x, w).y");
    return nullptr;
  }
  tokens.next();
  Token name = tokens.peek();
  if (name.kind != TokenKind::Name) {
    fail("the name of an output", "write rms_norm(x, w).y");
    return nullptr;
  }
  tokens.next();
  return make(name.at, Member{value, std::string(name.text)});
}

const Expr *Parser::parsePrimary() {
  Token token = tokens.peek();
  switch (token.kind) {
  case TokenKind::Number:
    return parseNumber();
  case TokenKind::Name:
    return parseNamed();
  case TokenKind::Inf:
    tokens.next();
    return make(token.at, Number{std::numeric_limits<double>::infinity(), false});
  case TokenKind::True:
  case TokenKind::False:
    tokens.next();
    return make(token.at, Truth{token.kind == TokenKind::True});
  case TokenKind::LeftParen: {
    tokens.next();
    const Expr *value = parseInner();
    std::string remedy = "close the '(' of line " + std::to_string(source.place(token.at).line);
    return value && expect(TokenKind::RightParen, remedy) ? value : nullptr;
  }
  case TokenKind::If:
    fail("a value", "put the select in parentheses");
    return nullptr;
  case TokenKind::Plus:
    fail("a value", "remove the sign");
    return nullptr;
  default:
    fail("a value", "a value is a number, a name, a call or an expression in ( )");
    return nullptr;
  }
}

std::optional<double> Parser::numberOf(const Token &token) {
  double value = 0;
  const char *end = token.text.data() + token.text.size();
  auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error == std::errc() && stop == end)
    return value;
  if (error == std::errc::result_out_of_range)
    diagnostics.error(
        token.at, "expected a number that a double can hold, got " + quoted(token.text),
        "numbers are 0 or of magnitude 2.3e-308 to 1.79e308; infinity is written inf");
  return std::nullopt; // any other misspelling was reported by the lexer
}

/// Whether a power's exponent comes next, or what follows its signs and brackets.
bool Parser::followsCaret() {
  const Token *before = tokens.position() - 1;
  while (before->kind == TokenKind::Minus || before->kind == TokenKind::LeftParen ||
         before->kind == TokenKind::Newline)
    --before;
  return before->kind == TokenKind::Caret;
}

/// Up to 2^53 a double holds every int.
static bool isExactInt(std::string_view digits) {
  uint64_t value = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc() && value <= uint64_t(1) << 53;
}

const Expr *Parser::parseNumber() {
  bool isExponent = followsCaret();
  Token token = tokens.next();
  std::optional<double> value = numberOf(token);
  bool isInt = token.text.find_first_of(".eE") == std::string_view::npos;
  if (value && isInt && !isExactInt(token.text)) {
    diagnostics.error(token.at, "expected an int of at most 2^53, got " + quoted(token.text),
                      isExponent ? "write exp(y*log(x))"
                                 : "write it as a real, with a point or an exponent");
    return nullptr;
  }
  return value ? make(token.at, Number{*value, isInt}) : nullptr;
}

/// A name, or a call of a function, a reduction or an op, or a gather.
const Expr *Parser::parseNamed() {
  Token name = tokens.next();
  TokenKind following = tokens.peek().kind;
  std::optional<ReduceKind> reduction = findReduction(name.text);
  if (reduction && following == TokenKind::LeftBracket)
    return parseReduction(name, *reduction);
  if (following == TokenKind::LeftParen) {
    if (std::optional<Function> function = findFunction(name.text))
      return parseFunction(name, *function);
    return reduction ? parseReduction(name, *reduction) : parseOpCall(name);
  }
  if (reduction || findFunction(name.text)) {
    fail("'('", "write " + std::string(name.text) + "(...)");
    return nullptr;
  }
  if (isReserved(name.text)) {
    diagnostics.error(name.at, "expected a value, got " + quoted(name.text),
                      "this word is reserved, it names no value");
    return nullptr;
  }
  if (following == TokenKind::LeftBracket)
    return parseGather(name);
  return make(name.at, Name{std::string(name.text)});
}

/// ( argument, argument ): calls `parseOne` with the number of each argument.
bool Parser::parseArguments(const std::function<bool(size_t)> &parseOne) {
  tokens.next();
  if (accept(TokenKind::RightParen))
    return true;
  size_t count = 0;
  do {
    if (!parseOne(count++))
      return false;
  } while (accept(TokenKind::Comma));
  return accept(TokenKind::RightParen) || fail("',' or ')'", "separate arguments by ','");
}

const Expr *Parser::parseFunction(const Token &name, Function function) {
  Apply apply{function, {}};
  std::string_view takes = info(function).takes;
  bool parsed = parseArguments([&](size_t index) {
    bool isWord = index < takes.size() &&
                  std::string_view("adm").find(takes[index]) != std::string_view::npos;
    apply.arguments.push_back(isWord ? parseWord() : parseInner());
    return apply.arguments.back() != nullptr;
  });
  if (!parsed)
    return nullptr;
  // min and max of one argument are reductions.
  if (std::optional<ReduceKind> kind = findReduction(name.text);
      kind && apply.arguments.size() == 1)
    return make(name.at, Reduce{*kind, std::nullopt, apply.arguments[0]});
  return make(name.at, std::move(apply));
}

/// An axis, a mode, or a dtype, which may carry an overflow mode: e4m3fn.sat
const Expr *Parser::parseWord() {
  Token first = tokens.peek();
  if (first.kind != TokenKind::Name) {
    fail("an axis, a dtype or a mode",
         "write index(row), round_to(bf16, x) or swap_pairs(x, half)");
    return nullptr;
  }
  tokens.next();
  std::string word(first.text);
  if (accept(TokenKind::Dot)) {
    if (tokens.peek().kind != TokenKind::Name) {
      fail("an overflow mode", "write e4m3fn.sat");
      return nullptr;
    }
    word += "." + std::string(tokens.next().text);
  }
  return make(first.at, Word{std::move(word)});
}

const Expr *Parser::parseReduction(const Token &name, ReduceKind kind) {
  Reduce reduce{kind, std::nullopt, nullptr};
  if (tokens.peek().kind == TokenKind::LeftBracket && !(reduce.kept = parseAxes()))
    return nullptr;
  if (!expect(TokenKind::LeftParen, "write " + std::string(name.text) + "[scope](value)"))
    return nullptr;
  reduce.value = parseInner();
  if (!reduce.value || !expect(TokenKind::RightParen, "a reduction takes one value"))
    return nullptr;
  return make(name.at, std::move(reduce));
}

const Expr *Parser::parseOpCall(const Token &name) {
  OpCall call{std::string(name.text), {}};
  bool parsed = parseArguments([&](size_t) {
    OpCall::Argument argument;
    if (tokens.peek().kind == TokenKind::Name && tokens.peekSecond().kind == TokenKind::Assign) {
      argument.name = std::string(tokens.next().text);
      tokens.next();
    } else if (!call.arguments.empty() && !call.arguments.back().name.empty()) {
      return fail("name = value", "positional arguments stand before named ones");
    }
    argument.value = parseInner();
    call.arguments.push_back(argument);
    return argument.value != nullptr;
  });
  return parsed ? make(name.at, std::move(call)) : nullptr;
}

const Expr *Parser::parseGather(const Token &name) {
  Gather gather{std::string(name.text), {}};
  tokens.next();
  do {
    const Expr *index = parseInner();
    if (!index)
      return nullptr;
    gather.indices.push_back(index);
  } while (accept(TokenKind::Comma));
  if (!expect(TokenKind::RightBracket, "separate indices by ','"))
    return nullptr;
  return make(name.at, std::move(gather));
}

} // namespace fw::language
