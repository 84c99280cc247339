// The tokens as the grammar sees them, and the op hash made from them.
#pragma once

#include "compiler/language/Lexer.h"

#include <string>

namespace fw::language {

/// Reads tokens and decides which newlines end a statement: those outside of ( ) and [ ] and not
/// after an operator or a comma. The parser and the hash share this one rule.
class TokenStream {
public:
  /// Reads from `first` on; the tokens must end with End.
  explicit TokenStream(const Token *first) : cursor(first) {}

  /// The next token that counts.
  const Token &peek();
  /// The token after peek(), newlines left out.
  const Token &peekSecond();
  /// Takes the next token.
  Token next();
  /// Forgets open brackets and goes to the end of the statement: its newline, ';' or brace. A token
  /// that stands first in its line already does, since the error was noticed one line late.
  void recover();
  /// Position of the next token.
  const Token *position() { return &peek(); }
  /// The token taken last; null before the first.
  const Token *last() const { return previous; }

private:
  const Token *cursor;
  const Token *previous = nullptr;
  unsigned brackets = 0;
};

/// sha256, in hex, of the tokens from `first` up to and without `last`, and of `callees`, the
/// hashes of the ops that are called. Comments, spaces and the spelling of a statement's end do not
/// change it.
std::string hashTokens(const Token *first, const Token *last,
                       const std::vector<std::string> &callees);

} // namespace fw::language
