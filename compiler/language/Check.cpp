#include "compiler/language/Check.h"

#include "compiler/language/Checker.h"
#include "compiler/language/Refusals.h"
#include "compiler/language/Text.h"
#include "compiler/support/Stack.h"

#include <algorithm>
#include <map>

namespace fw::language {

using Options = std::vector<const OptionDeclaration *>;

// --- Options -------------------------------------------------------------------------------------

static void findNestedOptions(const std::vector<Statement> &body, Diagnostics &diagnostics) {
  for (const Statement &statement : body) {
    if (auto *option = statement.as<OptionDeclaration>())
      diagnostics.error(option->at, "expected a declaration, got option " + quoted(option->name),
                        "options stand outside of if, they decide which arm there is");
    if (auto *branch = statement.as<StatementIf>()) {
      findNestedOptions(branch->then, diagnostics);
      findNestedOptions(branch->otherwise, diagnostics);
    }
  }
}

static void checkValues(const OptionDeclaration &option, Diagnostics &diagnostics) {
  if (option.values.size() == 1)
    diagnostics.error(option.at,
                      "expected at least two values of option " + quoted(option.name) + ", got one",
                      "write option " + option.name + " = " + option.values[0] + " | other");
  for (size_t i = 0; i < option.values.size(); ++i)
    if (std::count(option.values.begin(), option.values.begin() + i, option.values[i]))
      diagnostics.error(option.at,
                        "expected different values of option " + quoted(option.name) + ", got " +
                            quoted(option.values[i]) + " twice",
                        "remove one");
}

static Options collectOptions(const Op &op, Diagnostics &diagnostics) {
  Options options;
  for (const Statement &statement : op.body) {
    if (auto *option = statement.as<OptionDeclaration>()) {
      checkValues(*option, diagnostics);
      options.push_back(option);
    }
    if (auto *branch = statement.as<StatementIf>()) {
      findNestedOptions(branch->then, diagnostics);
      findNestedOptions(branch->otherwise, diagnostics);
    }
  }
  return options;
}

static bool isMentioned(const Op &op, const std::string &name) {
  return std::any_of(op.nodes.begin(), op.nodes.end(), [&](const auto &node) {
    const Name *mention = node->template as<Name>();
    return mention && mention->name == name;
  });
}

static size_t countCombinations(const Options &options) {
  size_t count = 1;
  for (const OptionDeclaration *option : options)
    count = std::min(count * option->values.size(), maxCombinations + 1);
  return count;
}

/// Combination number `index`: the last option changes fastest.
static OptionValues combination(const Options &options, size_t index) {
  OptionValues values;
  for (size_t i = options.size(); i-- > 0;) {
    values[options[i]->name] = options[i]->values[index % options[i]->values.size()];
    index /= options[i]->values.size();
  }
  return values;
}

// --- Findings of all combinations ----------------------------------------------------------------

namespace {
/// Collects what the combinations find, and says for which option values it was found.
class Summary {
public:
  void add(const Findings &findings) {
    for (const Diagnostic &diagnostic : findings.diagnostics)
      addDiagnostic(diagnostic);
    ++combinations;
    for (const Usage &usage : findings.usages) {
      auto [known, isNew] = unused.try_emplace(usage.at);
      if (usage.used)
        known->second.reset();
      else if (isNew)
        known->second = usage.complaint();
    }
  }

  void report(const Options &options, Diagnostics &diagnostics) const {
    for (const auto &[key, entry] : entries) {
      Diagnostic diagnostic = entry.diagnostic;
      if (entry.found.size() < combinations)
        diagnostic.text += condition(options, entry.found);
      diagnostics.add(std::move(diagnostic));
    }
    // A value with an error hides what it uses.
    if (!entries.empty())
      return;
    for (const auto &[at, complaint] : unused)
      if (complaint)
        diagnostics.add(*complaint);
  }

private:
  struct Entry {
    Diagnostic diagnostic;
    std::vector<size_t> found; ///< numbers of the combinations
  };

  void addDiagnostic(const Diagnostic &diagnostic) {
    auto [known, isNew] = entries.insert({{diagnostic.at, diagnostic.text}, Entry{diagnostic, {}}});
    std::vector<size_t> &found = known->second.found;
    if (found.empty() || found.back() != combinations)
      found.push_back(combinations);
  }

  /// " when a = x and b = y": the options that have one value in all of `found`.
  static std::string condition(const Options &options, const std::vector<size_t> &found) {
    std::string out;
    OptionValues first = combination(options, found.front());
    for (const OptionDeclaration *option : options) {
      bool same = std::all_of(found.begin(), found.end(), [&](size_t index) {
        return combination(options, index).at(option->name) == first.at(option->name);
      });
      if (same)
        out += (out.empty() ? " when " : " and ") + option->name + " = " + first.at(option->name);
    }
    return out.empty() ? " for some values of the options" : out;
  }

  size_t combinations = 0;
  std::map<std::pair<Offset, std::string>, Entry> entries;
  std::map<Offset, std::optional<Diagnostic>> unused; ///< nothing for what some combination uses
};
} // namespace

static void checkCombinations(const Op &op, const Options &options, Diagnostics &diagnostics) {
  size_t count = countCombinations(options);
  if (count > maxCombinations)
    return diagnostics.error(op.at,
                             "expected at most " + std::to_string(maxCombinations) +
                                 " combinations of option values, got more",
                             "split the op");
  Summary summary;
  for (size_t i = 0; i < count; ++i) {
    Checker checker(op, combination(options, i));
    checker.run();
    summary.add(checker.findings());
  }
  summary.report(options, diagnostics);
}

void checkOp(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics) {
  Diagnostics own(*op.source);
  bool isChecked = checkRefusals(op, ops, own);
  Options options = collectOptions(op, own);
  if (!own.hasErrors() && isChecked)
    checkCombinations(op, options, own);
  for (const OptionDeclaration *option : options)
    if (!own.hasErrors() && !isMentioned(op, option->name))
      own.warning(option->at, "expected a use of option " + quoted(option->name) + ", got none",
                  "remove it");
  for (const Diagnostic &diagnostic : own.list())
    diagnostics.add(diagnostic);
}

void checkOpNames(const std::vector<Op> &ops, Diagnostics &diagnostics) {
  std::map<std::string, Offset> known;
  for (const Op &op : ops)
    if (auto [first, isNew] = known.insert({op.name, op.at}); !isNew)
      diagnostics.error(op.at,
                        "expected a new name for an op, got " + quoted(op.name) +
                            ", defined on line " +
                            std::to_string(op.source->place(first->second).line),
                        "rename one of them");
}

Result<ResolvedOp> resolve(const Op &op, const OptionValues &chosen) {
  Result<OptionValues> options = completeOptions(op, chosen);
  if (!options)
    return options.takeError();
  Checker checker(op, *options);
  runOnLargeStack([&] { checker.run(); });
  if (!checker.findings().diagnostics.empty())
    return Error{Code::INTERNAL,
                 "expected a checked op, got " + quoted(op.name) +
                     " with an error: " + checker.findings().diagnostics.front().text};
  return checker.takeResolved();
}

} // namespace fw::language
