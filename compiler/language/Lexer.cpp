#include "compiler/language/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <algorithm>

namespace fw::language {

static constexpr size_t maxNameLength = 64;

namespace {
struct Word {
  TokenKind kind;
  std::string_view spelling;
  bool continues;
};
struct Foreign {
  std::string_view spelling, remedy;
};
} // namespace

static constexpr Word symbols[] = {
#define FW_SYMBOL(id, spelling, continues) {TokenKind::id, spelling, continues},
#include "compiler/language/tokens.def"
};
static constexpr Word keywords[] = {
#define FW_KEYWORD(id, spelling, continues) {TokenKind::id, spelling, continues},
#include "compiler/language/tokens.def"
};
static constexpr Foreign foreigners[] = {
#define FW_FOREIGN(spelling, remedy) {spelling, remedy},
#include "compiler/language/tokens.def"
};

static const Word *find(TokenKind kind) {
  auto matches = [&](const Word &word) { return word.kind == kind; };
  if (auto *it = std::find_if(std::begin(symbols), std::end(symbols), matches);
      it != std::end(symbols))
    return it;
  auto *it = std::find_if(std::begin(keywords), std::end(keywords), matches);
  return it != std::end(keywords) ? it : nullptr;
}

bool continues(TokenKind kind) {
  const Word *word = find(kind);
  return word && word->continues;
}

std::string_view spelling(TokenKind kind) {
  if (const Word *word = find(kind))
    return word->spelling;
  switch (kind) {
  case TokenKind::Name:
    return "a name";
  case TokenKind::Number:
    return "a number";
  case TokenKind::Newline:
    return "the end of the line";
  default:
    return "the end of the file";
  }
}

bool isKeyword(std::string_view word) {
  return std::any_of(std::begin(keywords), std::end(keywords),
                     [&](const Word &keyword) { return keyword.spelling == word; });
}

/// " (U+FEFF)" of a character that may not be seen; nothing for ASCII and what is no UTF-8.
static std::string codePoint(std::string_view character) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(character.data());
  llvm::UTF32 number = 0;
  if (character.size() < 2 ||
      llvm::convertUTF8Sequence(&begin, begin + character.size(), &number,
                                llvm::strictConversion) != llvm::conversionOK)
    return "";
  std::string digits = llvm::utohexstr(number);
  return " (U+" + std::string(4 - std::min<size_t>(digits.size(), 4), '0') + digits + ")";
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLower(char c) { return c >= 'a' && c <= 'z'; }
static bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
static bool isWordCharacter(char c) { return isLower(c) || isUpper(c) || isDigit(c) || c == '_'; }

namespace {
class Lexer {
public:
  Lexer(const Source &source, Diagnostics &diagnostics)
      : source(source), text(source.text()), diagnostics(diagnostics) {}

  TokenList run() {
    while (at < text.size())
      step();
    push(TokenKind::End, 0);
    return std::move(out);
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void push(TokenKind kind, size_t length) {
    out.tokens.push_back({kind, at, text.substr(at, length)});
    at += static_cast<Offset>(length);
  }

  void step() {
    char c = peek();
    if (c == '\n')
      newline();
    else if (c == ' ' || c == '\t' || c == '\r')
      ++at;
    else if (c == '#')
      comment();
    else if (isDigit(c))
      number();
    else if (isWordCharacter(c))
      word();
    else
      symbol();
  }

  void newline() {
    if (!out.tokens.empty() && out.tokens.back().kind != TokenKind::Newline)
      push(TokenKind::Newline, 0);
    ++at;
  }

  void comment() {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string shown = asComment(text.substr(at + 1, end - at - 1));
    shown.erase(0, shown.find_first_not_of(' '));
    shown.resize(shown.find_last_not_of(' ') + 1);
    out.comments[source.place(at).line] = std::move(shown);
    at = static_cast<Offset>(end);
  }

  size_t digits(size_t length) const {
    while (isDigit(peek(length)))
      ++length;
    return length;
  }

  void number() {
    size_t length = digits(0);
    if (peek(length) == '.' && isDigit(peek(length + 1)))
      length = digits(length + 1);
    if (peek(length) == 'e' || peek(length) == 'E') {
      size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+';
      if (isDigit(peek(length + 1 + sign)))
        length = digits(length + 1 + sign);
    }
    if (!isWordCharacter(peek(length)) && peek(length) != '.')
      return push(TokenKind::Number, length);
    Offset start = at;
    while (isWordCharacter(peek(length)) || peek(length) == '.')
      ++length;
    push(TokenKind::Number, length);
    diagnostics.error(start, "expected a number, got '" + std::string(out.tokens.back().text) + "'",
                      "write numbers as 1, 0.5 or 1e-8");
  }

  void word() {
    size_t length = 0;
    while (isWordCharacter(peek(length)))
      ++length;
    std::string_view spelled = text.substr(at, length);
    checkName(spelled);
    auto *keyword = std::find_if(std::begin(keywords), std::end(keywords),
                                 [&](const Word &word) { return word.spelling == spelled; });
    push(keyword != std::end(keywords) ? keyword->kind : TokenKind::Name, length);
  }

  void checkName(std::string_view spelled) {
    if (spelled.size() > maxNameLength)
      return diagnostics.error(
          at, "expected a name of at most 64 characters, got " + std::to_string(spelled.size()),
          "shorten it");
    if (std::none_of(spelled.begin(), spelled.end(), isUpper))
      return;
    std::string lower(spelled);
    for (char &c : lower)
      c = isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    diagnostics.error(at, "expected a name in lower case, got '" + std::string(spelled) + "'",
                      "write '" + lower + "'");
  }

  void symbol() {
    std::string_view rest = text.substr(at);
    for (const Foreign &foreign : foreigners)
      if (rest.starts_with(foreign.spelling) && !rest.starts_with("!="))
        return refuse(foreign.spelling.size(), foreign.remedy);
    for (const Word &symbol : symbols)
      if (rest.starts_with(symbol.spelling))
        return push(symbol.kind, symbol.spelling.size());
    size_t length = 1; // a whole UTF-8 sequence at once
    while ((peek(length) & 0xc0) == 0x80)
      ++length;
    refuse(length, "remove it; op text is ASCII, except in comments",
           codePoint(rest.substr(0, length)));
  }

  void refuse(size_t length, std::string_view remedy, const std::string &number = "") {
    std::string shown = withoutControls(text.substr(at, length));
    std::string got = (shown.empty() ? "a control character" : "'" + shown + "'") + number;
    diagnostics.error(at, "expected a name, a number or an operator, got " + got,
                      std::string(remedy));
    push(TokenKind::Invalid, length);
  }

  const Source &source;
  std::string_view text;
  Diagnostics &diagnostics;
  Offset at = 0;
  TokenList out;
};
} // namespace

TokenList lex(const Source &source, Diagnostics &diagnostics) {
  return Lexer(source, diagnostics).run();
}

} // namespace fw::language
