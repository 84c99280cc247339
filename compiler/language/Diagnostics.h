// Errors and warnings about an op file: several in one run, each at its line and column.
#pragma once

#include "compiler/language/Source.h"
#include "compiler/support/Error.h"

#include <string>
#include <vector>

namespace fw::language {

enum class Severity { Error, Warning };

/// What was expected, what was got and what to do, at a place.
struct Diagnostic {
  Severity severity;
  Offset at;
  std::string text;
  std::string remedy;
};

class Diagnostics {
public:
  explicit Diagnostics(const Source &source) : source(source) {}

  /// Adds a diagnostic unless the same text stands at the same place already.
  void add(Diagnostic diagnostic);
  void error(Offset at, std::string text, std::string remedy = {});
  void warning(Offset at, std::string text, std::string remedy = {});

  bool hasErrors() const { return errors > 0; }
  /// True if there is an error from `first` up to and without `last`.
  bool hasErrorWithin(Offset first, Offset last) const;
  /// True once so many errors were found that looking for more would help nobody.
  bool full() const;
  /// In the order of the text.
  const std::vector<Diagnostic> &list() const { return all; }
  /// `file:line:column: error: text; remedy`, the line and a caret, for each diagnostic.
  std::string render() const;
  /// The first error, with the rendered text of all diagnostics as its log.
  Error toError() const;

private:
  std::string render(const Diagnostic &diagnostic) const;

  const Source &source;
  std::vector<Diagnostic> all; ///< in the order of the text
  unsigned errors = 0;
};

} // namespace fw::language
