// Op text -> tokens. Comments are kept apart: they are labels, never part of the meaning.
#pragma once

#include "compiler/language/Diagnostics.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fw::language {

enum class TokenKind : uint8_t {
#define FW_SYMBOL(id, spelling, continues) id,
#define FW_KEYWORD(id, spelling, continues) id,
#include "compiler/language/tokens.def"
  Name, ///< any word that is no keyword; roles, scopes and functions among them
  Number,
  Invalid, ///< what cannot be read; it has a diagnostic already
  Newline, ///< one for any number of empty lines; whether it ends a statement is the reader's
           ///< matter
  End,
};

struct Token {
  TokenKind kind;
  Offset at;
  std::string_view text; ///< into the Source; empty for Newline and End
};

/// True if a newline after this token does not end the statement.
bool continues(TokenKind kind);
/// The spelling of a symbol or keyword, or the name of the other kinds, for messages.
std::string_view spelling(TokenKind kind);
/// True for a word of tokens.def.
bool isKeyword(std::string_view word);

struct TokenList {
  std::vector<Token> tokens;           ///< ends with End
  std::map<int, std::string> comments; ///< line -> text after '#', trimmed, safe to print
};

/// Never fails as a whole: what cannot be read becomes a diagnostic and is skipped.
TokenList lex(const Source &source, Diagnostics &diagnostics);

} // namespace fw::language
