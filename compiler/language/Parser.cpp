#include "compiler/language/Parser.h"

#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

static constexpr int languageVersion = 1;

// --- Helpers -------------------------------------------------------------------------------------

static std::string described(const Token &token) {
  return token.text.empty() ? std::string(spelling(token.kind)) : quoted(token.text);
}

bool Parser::fail(std::string_view what, std::string_view remedy) {
  if (tokens.peek().kind == TokenKind::Invalid)
    return false;
  diagnostics.error(tokens.peek().at,
                    "expected " + std::string(what) + ", got " + described(tokens.peek()),
                    std::string(remedy));
  return false;
}

bool Parser::accept(TokenKind kind) {
  if (tokens.peek().kind != kind)
    return false;
  tokens.next();
  return true;
}

bool Parser::expect(TokenKind kind, std::string_view remedy) {
  return accept(kind) || fail(quoted(spelling(kind)), remedy);
}

std::optional<Token> Parser::expectNewName(std::string_view what) {
  const Token &token = tokens.peek();
  if (token.kind == TokenKind::Name && !isReserved(token.text))
    return tokens.next();
  bool reserved = isReserved(token.text);
  fail(what, reserved ? "this word is reserved, choose another name"
                      : "names are lower case letters, digits and _");
  return std::nullopt;
}

bool Parser::Nesting::fits(std::string_view remedy) const {
  if (parser.depth <= maxNesting)
    return true;
  parser.diagnostics.error(parser.tokens.peek().at,
                           "expected at most " + std::to_string(maxNesting) +
                               " levels of nesting, got more",
                           std::string(remedy));
  return false;
}

// --- Files and ops -------------------------------------------------------------------------------

std::vector<Op> Parser::parseFile() {
  std::vector<Op> ops;
  parseVersion();
  while (tokens.peek().kind != TokenKind::End && !diagnostics.full()) {
    if (accept(TokenKind::Newline) || accept(TokenKind::Semicolon))
      continue;
    if (std::optional<Op> parsed = parseOp())
      ops.push_back(std::move(*parsed));
    else
      skipToOp();
  }
  if (ops.empty() && !diagnostics.hasErrors())
    fail("'op'", "an op file has at least one op");
  return ops;
}

void Parser::parseVersion() {
  accept(TokenKind::Newline);
  if (!accept(TokenKind::Fuse))
    return;
  const Token &number = tokens.peek();
  if (number.kind != TokenKind::Number || number.text != std::to_string(languageVersion)) {
    fail("language version 1", "this release reads version 1 only");
    tokens.recover();
  } else {
    tokens.next();
  }
}

void Parser::skipToOp() {
  tokens.recover();
  while (tokens.peek().kind != TokenKind::Op && tokens.peek().kind != TokenKind::End)
    tokens.next();
}

std::optional<Op> Parser::parseOp() {
  if (tokens.peek().kind != TokenKind::Op) {
    fail("'op'", "an op file is a list of: op NAME over elements { ... }");
    return std::nullopt;
  }
  Op parsed;
  op = &parsed;
  parsed.source = &source;
  operations = 0;
  parsed.first = tokens.position();
  parsed.summary = summaryAbove(tokens.next());
  std::optional<Token> name = expectNewName("the name of the op");
  if (!name)
    return std::nullopt;
  parsed.at = name->at;
  parsed.name = std::string(name->text);
  if (!expect(TokenKind::Over, "write op NAME over elements { ... }") ||
      !parseDomain(parsed.domain) || !parseBlock(parsed.body))
    return std::nullopt;
  parsed.last = tokens.last() + 1;
  return parsed;
}

bool Parser::parseDomain(Domain &domain) {
  domain.at = tokens.peek().at;
  if (isName("elements")) {
    tokens.next();
    domain.kind = Domain::Kind::Elements;
    domain.axes = {"element"};
    domain.outer = 1;
    return true;
  }
  if (isName("rows")) {
    tokens.next();
    domain.kind = Domain::Kind::Rows;
    domain.axes = {"row", "column"};
    domain.outer = 1;
    return true;
  }
  domain.kind = Domain::Kind::Axes;
  return tokens.peek().kind == TokenKind::LeftBracket
             ? parseDomainAxes(domain)
             : fail("'elements', 'rows' or a list of axes", "write over elements");
}

bool Parser::parseDomainAxes(Domain &domain) {
  expect(TokenKind::LeftBracket);
  bool inner = false;
  domain.outer = 0;
  if (accept(TokenKind::RightBracket)) {
    domain.kind = Domain::Kind::Scalars;
    return true;
  }
  while (true) {
    // [row; column] is what `rows` stands for.
    bool isRows = isName("row") || isName("column");
    std::optional<Token> axis = isRows ? tokens.next() : expectNewName("the name of an axis");
    if (!axis)
      return false;
    domain.axes.emplace_back(axis->text);
    domain.outer += !inner;
    if (accept(TokenKind::RightBracket)) {
      if (domain.axes == std::vector<std::string>{"row", "column"} && domain.outer == 1)
        domain.kind = Domain::Kind::Rows;
      return true;
    }
    if (!inner && accept(TokenKind::Semicolon))
      inner = true;
    else if (!expect(TokenKind::Comma, "separate axes by ',', outer and inner ones by one ';'"))
      return false;
  }
}

std::string Parser::summaryAbove(const Token &op) const {
  int line = source.place(op.at).line - 1;
  auto found = list.comments.find(line);
  std::string out;
  for (; found != list.comments.end() &&
         source.line(line).find('#') == source.line(line).find_first_not_of(" \t");
       found = list.comments.find(--line))
    out = out.empty() ? found->second : found->second + "\n" + out;
  return out;
}

// --- Statements ----------------------------------------------------------------------------------

bool Parser::parseBlock(std::vector<Statement> &body) {
  Offset opened = tokens.peek().at;
  if (!expect(TokenKind::LeftBrace, "statements stand in { }"))
    return false;
  while (!accept(TokenKind::RightBrace)) {
    if (accept(TokenKind::Newline) || accept(TokenKind::Semicolon))
      continue;
    TokenKind kind = tokens.peek().kind;
    if (kind == TokenKind::End || kind == TokenKind::Op)
      return fail("'}'", "close the '{' of line " + std::to_string(source.place(opened).line));
    if (diagnostics.full())
      return false;
    bool branches = kind == TokenKind::If;
    if (!parseStatement(body))
      recoverStatement(branches);
  }
  return true;
}

/// What to do about a token that goes on where a statement should end.
std::string_view Parser::separation(bool ofDeclaration) {
  if (!ofDeclaration)
    return "separate statements by ';' or a new line";
  return continues(tokens.peek().kind)
             ? "a default is a number, true or false"
             : "separate names by ',' and declarations by ';' or a new line";
}

bool Parser::parseStatement(std::vector<Statement> &body) {
  const Token first = tokens.peek();
  bool parsed = false;
  if (first.kind == TokenKind::Option) {
    parsed = parseOptions(body);
  } else if (first.kind == TokenKind::If) {
    parsed = parseIf(body);
  } else if (std::optional<Role> role = findRole(first.text)) {
    tokens.next();
    parsed = parseDeclarations(*role, body);
  } else if (first.kind == TokenKind::Name) {
    parsed = parseAssignment(body);
  } else {
    bool isOperator = continues(first.kind);
    fail("a statement", isOperator
                            ? "a line goes on only after an operator or inside brackets: end "
                              "the line before with the operator"
                            : "write a declaration, name = value or if option { ... }");
  }
  if (!parsed)
    return false;
  TokenKind end = tokens.peek().kind;
  return end == TokenKind::Newline || end == TokenKind::Semicolon || end == TokenKind::RightBrace ||
         end == TokenKind::End || // the missing '}' is told instead
         fail("the end of the statement", separation(findRole(first.text).has_value()));
}

bool Parser::parseIf(std::vector<Statement> &body) {
  StatementIf parsed;
  parsed.at = tokens.next().at;
  parsed.condition = parseExpression();
  if (!parsed.condition)
    return false;
  if (tokens.peek().kind == TokenKind::Then)
    return fail("'{'", "a select is a value: name = if c then a else b");
  Nesting nesting(*this);
  if (!nesting.fits("join conditions with and, or") || !parseBlock(parsed.then))
    return false;
  if (accept(TokenKind::Else)) {
    bool chained = tokens.peek().kind == TokenKind::If;
    if (!(chained ? parseIf(parsed.otherwise) : parseBlock(parsed.otherwise)))
      return false;
  }
  body.push_back({std::move(parsed)});
  return true;
}

bool Parser::parseAssignment(std::vector<Statement> &body) {
  const Token &first = tokens.peek();
  if (const Refusal *refusal = findRefusal(first.text);
      refusal && tokens.peekSecond().kind != TokenKind::Assign) {
    diagnostics.error(first.at,
                      "expected a statement, got " + quoted(first.text) + ", " +
                          std::string(refusal->what) + ", which the language refuses",
                      std::string(refusal->reason));
    return false;
  }
  std::optional<Token> name = expectNewName("a name to assign");
  if (!name || !expect(TokenKind::Assign, "a statement is: name = value"))
    return false;
  const Expr *value = parseExpression();
  if (!value)
    return false;
  body.push_back(
      {Assignment{name->at, std::string(name->text), value, labelOf(*name), textFrom(*name)}});
  return true;
}

/// Goes to the end of a statement that has an error. The blocks of an `if` (`branches`) whose
/// condition is wrong are still read, for their own errors.
void Parser::recoverStatement(bool branches) {
  tokens.recover();
  std::vector<Statement> dropped;
  while (tokens.peek().kind == TokenKind::LeftBrace && !diagnostics.full()) {
    if (!branches || depth >= maxNesting)
      skipBraces();
    else if (!parseBlock(dropped))
      return;
    if (accept(TokenKind::Else) && tokens.peek().kind != TokenKind::LeftBrace)
      tokens.recover();
  }
}

void Parser::skipBraces() {
  unsigned open = 0;
  do {
    TokenKind kind = tokens.next().kind;
    open += kind == TokenKind::LeftBrace;
    open -= kind == TokenKind::RightBrace;
  } while (open > 0 && tokens.peek().kind != TokenKind::End);
}

/// E1, E12, E3a ... at the start of a comment, alone or followed by words; else nothing.
static std::string_view labelAtStart(std::string_view comment) {
  size_t i = 0;
  auto digit = [&] { return i < comment.size() && comment[i] >= '0' && comment[i] <= '9'; };
  if (comment.empty() || comment[0] < 'A' || comment[0] > 'Z')
    return {};
  ++i;
  if (!digit())
    return {};
  while (digit())
    ++i;
  if (i < comment.size() && comment[i] >= 'a' && comment[i] <= 'z')
    ++i;
  bool ends = i == comment.size() || comment[i] == ' ' || comment[i] == ':' || comment[i] == ',';
  return ends ? comment.substr(0, i) : std::string_view();
}

/// The label behind the statement that starts at `first` and ends at the token read last.
std::string Parser::labelOf(const Token &first) const {
  int line = source.place(first.at).line, last = source.place(tokens.last()->at).line;
  for (; line <= last; ++line)
    if (auto found = list.comments.find(line); found != list.comments.end())
      if (std::string_view label = labelAtStart(found->second); !label.empty())
        return std::string(label);
  return "";
}

/// The source text from `first` to the token read last, without comments, with single spaces.
std::string Parser::textFrom(const Token &first) const {
  const Token &last = *tokens.last();
  Offset end = last.at + static_cast<Offset>(last.text.size());
  std::string_view rest = source.text().substr(first.at, end - first.at);
  std::string out;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '#')
      i = std::min(rest.find('\n', i), rest.size() - 1);
    bool isSpace = rest[i] == ' ' || rest[i] == '\n' || rest[i] == '\r' || rest[i] == '\t';
    if (!isSpace)
      out += rest[i];
    else if (!out.ends_with(' '))
      out += ' ';
  }
  return out;
}

} // namespace fw::language
