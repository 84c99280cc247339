// fusewright cache prune: removes entries, those used longest ago first.
#include "tools/cli/CacheEntries.h"

#include <climits>
#include <iostream>

namespace fw::cli {

namespace {

struct PruneFlags {
  std::string size, days;
  bool all = false, dryRun = false;
};

/// At most `bytes` remain, and none used before `since`.
struct Limits {
  uint64_t bytes = UINT64_MAX;
  time_t since = 0;
};

constexpr uint64_t kMostDays = 36500, kDay = 24 * 60 * 60;

Limits limitsOf(const PruneFlags &flags, const jit::Settings &settings) {
  Limits limits;
  if (flags.all)
    limits.bytes = 0;
  else if (!flags.size.empty())
    limits.bytes = uint64_t(*jit::parseBytes(flags.size));
  else if (flags.days.empty())
    limits.bytes = uint64_t(settings.number(jit::Knob::cache_size));
  if (!flags.days.empty())
    limits.since = ::time(nullptr) - time_t(std::stoull(flags.days) * kDay);
  return limits;
}

struct Total {
  size_t entries = 0;
  uint64_t bytes = 0;

  void add(const jit::CacheListing &entry) {
    ++entries;
    bytes += entry.bytes;
  }
  std::string text() const {
    return countText(entries, "entry", "entries") + " of " + countText(bytes, "byte", "bytes");
  }
};

struct Pruned {
  Total removed, left;
  std::vector<jit::CacheFailure> failures;
};

/// What another process removes in the meantime is neither removed nor left.
Pruned remove(jit::CacheFolder &folder, const std::vector<jit::CacheListing> &chosen, bool dryRun) {
  Pruned pruned;
  for (const jit::CacheListing &entry : folder.list())
    pruned.left.add(entry);
  for (const jit::CacheListing &entry : chosen) {
    std::variant<bool, jit::CacheFailure> gone = true;
    if (!dryRun)
      gone = folder.remove(entry);
    if (auto *failure = std::get_if<jit::CacheFailure>(&gone)) {
      pruned.failures.push_back(*failure);
      continue;
    }
    if (std::get<bool>(gone))
      pruned.removed.add(entry);
    --pruned.left.entries;
    pruned.left.bytes -= entry.bytes;
  }
  return pruned;
}

Error notRemoved(const std::vector<jit::CacheFailure> &failures) {
  return {Code::CACHE,
          "expected to remove every entry chosen, got " +
              countText(failures.size(), "failure: ", "failures: ") + failures.front().detail,
          "give the folder to this user, or run as its owner"};
}

Result<int> prune(const Session &session, const PruneFlags &flags) {
  Compiler compiler(session.compilerOptions());
  Result<jit::CacheFolder *> folder = usableFolder(compiler.cache());
  if (!folder)
    return folder.takeError();
  Limits limits = limitsOf(flags, session.settings);
  std::vector<jit::CacheListing> chosen = (*folder)->excess(limits.bytes, limits.since);
  EntryList entries(compiler.cache(), chosen); // described while they are there
  Pruned pruned = remove(**folder, chosen, flags.dryRun);
  if (!flags.dryRun)
    (*folder)->removeLeftovers(/*age=*/0);
  if (session.json)
    printJson({{"folder", (*folder)->place()},
               {"dry_run", flags.dryRun},
               {"chosen", entries.json()},
               {"removed", {{"entries", pruned.removed.entries}, {"bytes", pruned.removed.bytes}}},
               {"left", {{"entries", pruned.left.entries}, {"bytes", pruned.left.bytes}}}});
  else if (!chosen.empty())
    entries.print();
  std::cerr << (flags.dryRun ? "would remove " : "removed ") << pruned.removed.text() << " from "
            << (*folder)->place() << "; left: " << pruned.left.text() << "\n";
  if (!pruned.failures.empty())
    return notRemoved(pruned.failures);
  return 0;
}

std::string checkBytes(const std::string &text) {
  return jit::parseBytes(text) ? "" : "expected bytes such as 4096, 512M or 2G, got '" + text + "'";
}

} // namespace

void addPruneCommand(CLI::App &cache, Session &session) {
  auto flags = std::make_shared<PruneFlags>();
  CLI::App *command = cache.add_subcommand("prune", "Remove entries, those used longest ago first");
  auto *size = command
                   ->add_option("--size", flags->size,
                                "Until the rest has at most so many bytes (512M, 2G); without "
                                "any flag: FUSEWRIGHT_CACHE_SIZE")
                   ->check(CLI::Validator(checkBytes, ""))
                   ->type_name("BYTES");
  command->add_option("--older-than", flags->days, "Those used last so many days ago or more")
      ->check(numberUpTo(kMostDays))
      ->type_name("DAYS");
  command->add_flag("--all", flags->all, "Every entry")->excludes(size);
  command->add_flag("--dry-run", flags->dryRun, "Only say what would be removed");
  addJsonFlag(*command, session);
  command->footer("Processes that run now are not disturbed: what they have loaded stays loaded, "
                  "and the lock of a\ncompile that runs is left alone.");
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return prune(session, *flags); }; });
}

} // namespace fw::cli
