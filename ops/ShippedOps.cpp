#include "ops/ShippedOps.h"

#include "compiler/language/Functions.h"
#include "compiler/language/Text.h"

#include <algorithm>

namespace fw {

static constexpr ShippedFile files[] = {
#include "ops/ops.inc"
};

std::span<const ShippedFile> shippedFiles() { return files; }

/// Calls `visit` with the name in each line that starts with "op NAME ".
template <class Visitor> static void visitHeaders(std::string_view text, Visitor visit) {
  constexpr std::string_view opening = "\nop ";
  for (size_t at = text.find(opening); at != std::string_view::npos; at = text.find(opening, at)) {
    at += opening.size();
    visit(text.substr(at, text.find(' ', at) - at));
  }
}

std::vector<std::string> shippedOpNames() {
  std::vector<std::string> names;
  for (const ShippedFile &file : files)
    visitHeaders(file.text, [&](std::string_view name) { names.emplace_back(name); });
  std::sort(names.begin(), names.end());
  return names;
}

/// The file that has the op called `name`, or null.
static const ShippedFile *fileOf(std::string_view name) {
  for (const ShippedFile &file : files) {
    bool found = false;
    visitHeaders(file.text, [&](std::string_view header) { found |= header == name; });
    if (found)
      return &file;
  }
  return nullptr;
}

namespace {
class ShippedLibrary : public language::OpLibrary {
public:
  std::optional<language::OpHandle> find(std::string_view name) const override {
    if (!fileOf(name))
      return std::nullopt;
    Result<language::OpHandle> op = findShippedOp(name);
    return op ? std::optional(std::move(*op)) : std::nullopt;
  }
  std::vector<std::string> names() const override { return shippedOpNames(); }
};
} // namespace

const language::OpLibrary &shippedLibrary() {
  static const ShippedLibrary library;
  return library;
}

Result<language::OpHandle> findShippedOp(std::string_view name) {
  if (const ShippedFile *file = fileOf(name))
    return language::parseOp(file->text, file->name, name, &shippedLibrary());
  std::vector<std::string> names = shippedOpNames();
  std::vector<std::string_view> candidates(names.begin(), names.end());
  std::optional<std::string> near = language::nearest(name, candidates);
  return Error{Code::USAGE, "expected a shipped op, got " + language::quoted(name),
               near ? "did you mean " + language::quoted(*near)
                    : "shipped ops are " + language::alternatives(names)};
}

} // namespace fw
