#include "compiler/language/TokenStream.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace fw::language {

const Token &TokenStream::peek() {
  bool joins = brackets > 0 || (previous && continues(previous->kind));
  while (joins && cursor->kind == TokenKind::Newline)
    ++cursor;
  return *cursor;
}

const Token &TokenStream::peekSecond() {
  const Token *second = &peek();
  if (second->kind != TokenKind::End)
    ++second;
  while (second->kind == TokenKind::Newline)
    ++second;
  return *second;
}

Token TokenStream::next() {
  previous = &peek();
  if (cursor->kind == TokenKind::LeftParen || cursor->kind == TokenKind::LeftBracket)
    ++brackets;
  bool closes = cursor->kind == TokenKind::RightParen || cursor->kind == TokenKind::RightBracket;
  if (closes && brackets > 0)
    --brackets;
  if (cursor->kind != TokenKind::End)
    ++cursor;
  return *previous;
}

void TokenStream::recover() {
  bool inBrackets = brackets > 0;
  brackets = 0;
  bool startsLine = previous && previous != cursor && (cursor - 1)->kind == TokenKind::Newline;
  if (startsLine && inBrackets)
    return;
  auto ends = [](TokenKind kind) {
    return kind == TokenKind::Newline || kind == TokenKind::Semicolon || kind == TokenKind::End ||
           kind == TokenKind::LeftBrace || kind == TokenKind::RightBrace;
  };
  while (!ends(cursor->kind))
    previous = cursor++;
}

/// Feeds "fuse 1" and the tokens, one a line, with one separator between statements and none at
/// braces.
static void feed(llvm::SHA256 &hash, const Token *first, const Token *last) {
  hash.update(llvm::StringRef("fuse 1\n"));
  TokenStream stream(first);
  bool separated = true, pending = false;
  while (stream.position() != last) {
    Token token = stream.next();
    if (token.kind == TokenKind::Newline || token.kind == TokenKind::Semicolon) {
      pending = !separated;
      continue;
    }
    if (pending && token.kind != TokenKind::RightBrace)
      hash.update(llvm::StringRef(";\n"));
    hash.update(llvm::StringRef(token.text));
    hash.update(llvm::StringRef("\n"));
    pending = false;
    separated = token.kind == TokenKind::LeftBrace;
  }
}

std::string hashTokens(const Token *first, const Token *last,
                       const std::vector<std::string> &callees) {
  llvm::SHA256 hash;
  feed(hash, first, last);
  for (const std::string &callee : callees)
    hash.update(llvm::StringRef("calls " + callee + "\n"));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace fw::language
