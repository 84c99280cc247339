// Tokens -> syntax tree. Recursive descent; after an error it goes on with the next statement.
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/TokenStream.h"

#include <functional>

namespace fw::language {

/// Limits on untrusted text.
constexpr unsigned maxOperations = 4096;
constexpr unsigned maxNesting = 64;

class Parser {
public:
  Parser(const Source &source, const TokenList &list, Diagnostics &diagnostics)
      : source(source), list(list), diagnostics(diagnostics), tokens(list.tokens.data()) {}

  /// All ops of the file. What could not be read is left out and has a diagnostic.
  std::vector<Op> parseFile();

private:
  // Every parse function reports its own error; it then returns false, null or nothing.

  // Files, ops, statements (Parser.cpp)
  void parseVersion();
  void skipToOp();
  std::optional<Op> parseOp();
  bool parseDomain(Domain &domain);
  bool parseDomainAxes(Domain &domain);
  bool parseBlock(std::vector<Statement> &body);
  bool parseStatement(std::vector<Statement> &body);
  bool parseIf(std::vector<Statement> &body);
  bool parseAssignment(std::vector<Statement> &body);
  void recoverStatement(bool branches);
  void skipBraces();
  std::string labelOf(const Token &first) const;
  std::string textFrom(const Token &first) const;
  std::string summaryAbove(const Token &op) const;

  // Declarations (ParserDeclarations.cpp)
  bool parseOptions(std::vector<Statement> &body);
  bool parseOptionValue(OptionDeclaration &option);
  std::string_view separation(bool ofDeclaration);
  bool parseDeclarations(Role role, std::vector<Statement> &body);
  bool parseDeclaration(Declaration &declaration);
  bool parseType(Declaration &declaration);
  std::optional<Literal> parseLiteral();
  std::optional<double> parseBound();
  std::optional<Range> parseRange();
  bool parseInterval(Range &range);
  std::optional<std::vector<Axis>> parseAxes();
  std::optional<Axis> parseAxis();

  // Expressions (ParserExpressions.cpp)
  const Expr *parseExpression();
  const Expr *parseInner();
  const Expr *parseSelect();
  const Expr *parseBinary(unsigned level);
  const Expr *parseNot();
  const Expr *parseUnary();
  const Expr *parsePower();
  const Expr *parsePostfix();
  const Expr *parsePrimary();
  bool followsCaret();
  const Expr *parseNumber();
  const Expr *parseNamed();
  bool parseArguments(const std::function<bool(size_t)> &parseOne);
  const Expr *parseFunction(const Token &name, Function function);
  const Expr *parseReduction(const Token &name, ReduceKind kind);
  const Expr *parseOpCall(const Token &name);
  const Expr *parseGather(const Token &name);
  const Expr *parseWord();
  std::optional<double> numberOf(const Token &token);
  const Expr *make(Offset at, decltype(Expr::node) node);

  // Helpers
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, std::string_view remedy = {});
  bool isName(std::string_view word) { return tokens.peek().text == word; }
  std::optional<Token> expectNewName(std::string_view what);
  /// "expected WHAT, got <the next token>"; returns false.
  bool fail(std::string_view what, std::string_view remedy = {});

  /// A level of nesting: a branch of an if, brackets, an arm of a select, a sign, an exponent.
  class Nesting {
  public:
    explicit Nesting(Parser &parser) : parser(parser) { ++parser.depth; }
    ~Nesting() { --parser.depth; }
    /// False, with an error, when it is too deep.
    bool fits(std::string_view remedy = "give parts of the expression names of their own") const;

  private:
    Parser &parser;
  };

  const Source &source;
  const TokenList &list;
  Diagnostics &diagnostics;
  TokenStream tokens;
  Op *op = nullptr;
  unsigned depth = 0;
  unsigned operations = 0;
};

} // namespace fw::language
