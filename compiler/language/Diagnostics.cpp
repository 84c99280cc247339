#include "compiler/language/Diagnostics.h"

#include <algorithm>

namespace fw::language {

static constexpr unsigned maxErrors = 20;
static constexpr size_t maxDiagnostics = 100;
/// A longer line is shown in part, around the caret.
static constexpr size_t shownColumns = 120;

void Diagnostics::add(Diagnostic diagnostic) {
  bool known = std::any_of(all.begin(), all.end(), [&](const Diagnostic &other) {
    return other.at == diagnostic.at && other.text == diagnostic.text;
  });
  bool isWarning = diagnostic.severity == Severity::Warning;
  if (known || full() || (isWarning && all.size() >= maxDiagnostics))
    return;
  errors += !isWarning;
  auto later = std::upper_bound(all.begin(), all.end(), diagnostic.at,
                                [](Offset at, const Diagnostic &other) { return at < other.at; });
  all.insert(later, std::move(diagnostic));
}

void Diagnostics::error(Offset at, std::string text, std::string remedy) {
  add({Severity::Error, at, std::move(text), std::move(remedy)});
}

void Diagnostics::warning(Offset at, std::string text, std::string remedy) {
  add({Severity::Warning, at, std::move(text), std::move(remedy)});
}

bool Diagnostics::hasErrorWithin(Offset first, Offset last) const {
  return std::any_of(all.begin(), all.end(), [&](const Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error && diagnostic.at >= first && diagnostic.at < last;
  });
}

bool Diagnostics::full() const { return errors >= maxErrors; }

/// The line and a caret below its column. Bytes that a terminal would act on are shown as '?', so
/// that the caret stays under its character.
static std::string excerpt(std::string_view line, size_t column) {
  size_t first = column > shownColumns ? column - shownColumns / 2 : 0;
  std::string shown(line.substr(std::min(first, line.size()), shownColumns));
  if (withoutControls(shown) != shown)
    for (char &c : shown)
      if (c != '\t' && (c < 0x20 || c == 0x7f))
        c = '?';
  std::string pad = shown.substr(0, column - first);
  for (char &c : pad)
    if (c != '\t')
      c = ' ';
  pad.resize(column - first, ' ');
  return shown + "\n" + pad + "^\n";
}

std::string Diagnostics::render(const Diagnostic &diagnostic) const {
  Place place = source.place(diagnostic.at);
  std::string out =
      source.name() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
      (diagnostic.severity == Severity::Error ? "error: " : "warning: ") + diagnostic.text;
  if (!diagnostic.remedy.empty())
    out += "; " + diagnostic.remedy;
  return out + "\n" + excerpt(source.line(place.line), place.column - 1);
}

std::string Diagnostics::render() const {
  std::string out;
  for (const Diagnostic &diagnostic : all)
    out += render(diagnostic);
  if (full())
    out += source.name() + ": more than " + std::to_string(maxErrors - 1) +
           " errors, the rest is not shown\n";
  return out;
}

Error Diagnostics::toError() const {
  for (const Diagnostic &diagnostic : all) {
    if (diagnostic.severity != Severity::Error)
      continue;
    Place place = source.place(diagnostic.at);
    return {Code::OP_TEXT, diagnostic.text, diagnostic.remedy, source.name(),
            place.line,    place.column,    render()};
  }
  return {Code::INTERNAL, "expected an error in " + source.name() + ", got none"};
}

} // namespace fw::language
