#include "templates/Templates.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

namespace fw::templates {
namespace {

struct Embedded {
  std::string_view name, text;
};
const Embedded embedded[] = {
#include "templates/headers.inc"
#include "templates/skeletons.inc"
};

const Skeleton skeletonTable[] = {
#define FW_SKELETON(...) Skeleton{__VA_ARGS__},
#include "templates/skeletons.def"
#undef FW_SKELETON
};

struct Word {
  std::string_view name, file;
};
const Word vocabulary[] = {
#define FW_VOCABULARY(...) Word{__VA_ARGS__},
#include "templates/vocabulary.def"
#undef FW_VOCABULARY
};

/// The file named by `#include "templates/<file>"`, or nothing.
std::string_view includedFile(std::string_view line) {
  constexpr std::string_view BEGIN = "#include \"templates/";
  if (!line.starts_with(BEGIN) || !line.ends_with('"'))
    return {};
  return line.substr(BEGIN.size(), line.size() - BEGIN.size() - 1);
}

/// Appends `file` and, before it, what it includes and `seen` does not hold yet.
Result<void> append(std::string_view file, std::set<std::string_view> &seen, std::string &text) {
  if (!seen.insert(file).second)
    return {};
  const std::string_view *source = findTemplate(file);
  if (!source)
    return Error{Code::INTERNAL, "expected an embedded template, got '" + std::string(file) + "'",
                 "list it under templates/"};
  for (size_t at = 0; at < source->size();) {
    const size_t end = std::min(source->find('\n', at), source->size());
    const std::string_view line = source->substr(at, end - at);
    at = end + 1;
    if (std::string_view included = includedFile(line); !included.empty()) {
      if (Result<void> done = append(included, seen, text); !done)
        return done;
    } else if (line != "#pragma once") {
      text.append(line).append("\n");
    }
  }
  return {};
}

} // namespace

const Skeleton *findSkeleton(std::string_view name) {
  const auto *row = std::ranges::find(skeletonTable, name, &Skeleton::name);
  return row == std::end(skeletonTable) ? nullptr : row;
}

std::span<const Skeleton> skeletons() { return skeletonTable; }

const std::string_view *findTemplate(std::string_view file) {
  const auto *row = std::ranges::find(embedded, file, &Embedded::name);
  return row == std::end(embedded) ? nullptr : &row->text;
}

std::string_view headerOf(std::string_view name) {
  const Word *best = nullptr;
  for (const Word &word : vocabulary) {
    const bool covers = word.name.ends_with("::") ? name.starts_with(word.name) : name == word.name;
    if (covers && (!best || word.name.size() > best->name.size()))
      best = &word;
  }
  return best ? best->file : std::string_view();
}

Result<std::string> assemble(std::span<const std::string_view> files) {
  std::string text;
  std::set<std::string_view> seen;
  for (std::string_view file : files)
    if (Result<void> done = append(file, seen, text); !done)
      return done.takeError();
  return text;
}

std::vector<std::string> featuresAsked(std::string_view text) {
  constexpr std::string_view PREFIX = "FW_HAS_";
  std::set<std::string> names;
  for (size_t at = text.find(PREFIX); at != text.npos; at = text.find(PREFIX, at)) {
    at += PREFIX.size();
    std::string name;
    for (; at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
         ++at)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

} // namespace fw::templates
