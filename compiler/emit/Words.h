// Identifiers, literals and comments of the CUDA text, from names and numbers of a module.
#pragma once

#include "compiler/emit/Spelling.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <set>

namespace fw::emit {

/// `prefix` and `name` as an identifier. Names of op files are [a-z0-9_]+, those of operands that
/// features add have one dot ("p.copy"), which becomes a capital letter: no two names meet.
std::string identifier(llvm::StringRef prefix, llvm::StringRef name);

/// `text` as it may stand behind `//`: printable ASCII on one line, without backslashes.
std::string commentText(llvm::StringRef text);

/// The literal of exactly `value`: decimal where that is short and exact, else hexadecimal; bits
/// where it is not finite.
Text literal(const llvm::APFloat &value);

/// An i64.
Text wholeNumber(int64_t value);

/// `value` for a reader, in the fewest digits that give it back.
Text plainNumber(double value);

/// Hands out each identifier once.
class Names {
public:
  /// `wanted`, or `wanted` with a number behind it where that is taken.
  std::string unique(std::string wanted);
  /// The next of prefix0, prefix1, ...
  std::string next(const std::string &prefix) { return unique(prefix + std::to_string(counter++)); }

private:
  std::set<std::string> taken;
  unsigned counter = 0;
};

} // namespace fw::emit
