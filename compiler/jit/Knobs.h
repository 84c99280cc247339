// The one reader of the environment. knobs.def is the table; help texts and docs come from it.
#pragma once

#include "compiler/support/Error.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw::jit {

enum class Knob : unsigned {
#define FW_KNOB(name, ...) name,
#include "compiler/jit/knobs.def"
#undef FW_KNOB
  count
};

enum class KnobType { Text, Path, Paths, Flag, Count, Bytes, Choice };

struct KnobRow {
  const char *name;
  KnobType type;
  const char *fallback;
  const char *choices = "";
  const char *help;
};

std::span<const KnobRow> knobs();

/// "FUSEWRIGHT_CACHE_DIR" for the row `cache_dir`.
std::string variableName(const KnobRow &row);

/// "4096", "512M", "2G": powers of 1024.
std::optional<int64_t> parseBytes(std::string_view text);

/// getenv, or a test's table: null when the variable is unset.
using Environment = std::function<const char *(const char *name)>;
Environment processEnvironment();

/// The values of all knobs. An empty variable counts as unset.
class Settings {
public:
  /// All fallbacks, without looking at any environment.
  Settings();

  /// USAGE names the variable, the value that was got and what is accepted.
  static Result<Settings> read(const Environment &environment = processEnvironment());

  /// The same for `doctor`: a wrong value counts as unset, and its error is added to `wrong`.
  static Settings read(const Environment &environment, std::vector<Error> &wrong);

  /// A value from a context option or a command line; the same checks as read().
  Result<void> set(Knob knob, std::string_view value);

  const std::string &text(Knob knob) const { return values[unsigned(knob)].text; }
  /// The parts of a list of paths, without empty ones.
  std::vector<std::string> paths(Knob knob) const;
  bool flag(Knob knob) const { return number(knob) != 0; }
  int64_t number(Knob knob) const { return values[unsigned(knob)].number; }
  bool isSet(Knob knob) const { return values[unsigned(knob)].isSet; }

private:
  struct Value {
    std::string text;
    int64_t number = 0;
    bool isSet = false;
  };
  std::array<Value, unsigned(Knob::count)> values;
};

/// One paragraph per knob for `--help` and the reference page, as a Markdown table.
std::string knobsTable();

} // namespace fw::jit
