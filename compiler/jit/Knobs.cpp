#include "compiler/jit/Knobs.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace fw::jit {
namespace {

constexpr KnobRow rows[] = {
#define FW_KNOB(id, ...) {.name = #id, __VA_ARGS__},
#include "compiler/jit/knobs.def"
#undef FW_KNOB
};

std::optional<int64_t> parseCount(std::string_view text) {
  int64_t value = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

std::optional<int64_t> parseFlag(std::string_view text) {
  if (text == "1" || text == "on" || text == "true" || text == "yes")
    return 1;
  if (text == "0" || text == "off" || text == "false" || text == "no")
    return 0;
  return std::nullopt;
}

/// The position of `text` in "a|b|c".
std::optional<int64_t> parseChoice(std::string_view text, std::string_view choices) {
  for (int64_t i = 0; !choices.empty(); ++i) {
    std::string_view choice = choices.substr(0, choices.find('|'));
    if (choice == text)
      return i;
    choices.remove_prefix(std::min(choices.size(), choice.size() + 1));
  }
  return std::nullopt;
}

std::optional<int64_t> parse(const KnobRow &row, std::string_view text) {
  switch (row.type) {
  case KnobType::Text:
  case KnobType::Path:
  case KnobType::Paths:
    return 0;
  case KnobType::Flag:
    return parseFlag(text);
  case KnobType::Count:
    return parseCount(text);
  case KnobType::Bytes:
    return parseBytes(text);
  case KnobType::Choice:
    return parseChoice(text, row.choices);
  }
  return std::nullopt;
}

std::string accepted(const KnobRow &row) {
  switch (row.type) {
  case KnobType::Text:
    return "text";
  case KnobType::Path:
    return "a path";
  case KnobType::Paths:
    return "paths separated by ':'";
  case KnobType::Flag:
    return "0 or 1";
  case KnobType::Count:
    return "a whole number from 0";
  case KnobType::Bytes:
    return "bytes such as 4096, 512M or 2G";
  case KnobType::Choice:
    return std::string("one of ") + row.choices;
  }
  return "";
}

} // namespace

std::optional<int64_t> parseBytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  size_t unit = text.empty() ? units.npos : units.find(text.back());
  int shift = unit == units.npos ? 0 : 10 * int(unit + 1);
  std::optional<int64_t> count = parseCount(shift ? text.substr(0, text.size() - 1) : text);
  if (!count || *count > (INT64_MAX >> shift))
    return std::nullopt;
  return *count << shift;
}

std::span<const KnobRow> knobs() { return rows; }

std::string variableName(const KnobRow &row) {
  std::string name = "FUSEWRIGHT_";
  for (const char *c = row.name; *c; ++c)
    name += *c >= 'a' && *c <= 'z' ? char(*c - 'a' + 'A') : *c;
  return name;
}

Environment processEnvironment() {
  return [](const char *name) { return const_cast<const char *>(std::getenv(name)); };
}

Settings::Settings() {
  for (size_t i = 0; i < std::size(rows); ++i)
    values[i] = {.text = rows[i].fallback, .number = parse(rows[i], rows[i].fallback).value_or(0)};
}

Settings Settings::read(const Environment &environment, std::vector<Error> &wrong) {
  Settings settings;
  for (size_t i = 0; i < std::size(rows); ++i) {
    const char *value = environment(variableName(rows[i]).c_str());
    if (!value || !*value)
      continue;
    if (Result<void> done = settings.set(Knob(i), value); !done)
      wrong.push_back(done.takeError());
  }
  return settings;
}

Result<Settings> Settings::read(const Environment &environment) {
  std::vector<Error> wrong;
  Settings settings = read(environment, wrong);
  if (!wrong.empty())
    return wrong.front();
  return settings;
}

Result<void> Settings::set(Knob knob, std::string_view value) {
  const KnobRow &row = rows[unsigned(knob)];
  std::optional<int64_t> number = parse(row, value);
  if (!number)
    return Error{.code = Code::USAGE,
                 .text = "expected " + accepted(row) + " in " + variableName(row) + ", got '" +
                         std::string(value) + "'",
                 .remedy = "unset it for the default '" + std::string(row.fallback) + "'"};
  values[unsigned(knob)] = {.text = std::string(value), .number = *number, .isSet = true};
  return {};
}

std::vector<std::string> Settings::paths(Knob knob) const {
  std::vector<std::string> out;
  std::string_view rest = text(knob);
  while (!rest.empty()) {
    std::string_view path = rest.substr(0, rest.find(':'));
    if (!path.empty())
      out.emplace_back(path);
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
  }
  return out;
}

std::string knobsTable() {
  std::string table = "| variable | value | default | meaning |\n|---|---|---|---|\n";
  for (const KnobRow &row : rows) {
    std::string values = accepted(row); // a bar would end the table's cell
    for (size_t bar = values.find('|'); bar != values.npos; bar = values.find('|', bar + 2))
      values.replace(bar, 1, ", ");
    table += "| `" + variableName(row) + "` | " + values + " | `" + row.fallback + "` | " +
             row.help + " |\n";
  }
  return table;
}

} // namespace fw::jit
