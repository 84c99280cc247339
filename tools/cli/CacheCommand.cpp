// fusewright cache ls|info: what is on disk. `explain` and `prune` have files of their own.
#include "tools/cli/Commands.h"

#include "tools/cli/CacheEntries.h"

#include <algorithm>
#include <iostream>
#include <tuple>

namespace fw::cli {

namespace {

/// Newest first.
std::vector<jit::CacheListing> listings(jit::Cache &cache) {
  std::vector<jit::CacheListing> list = cache.list();
  std::ranges::sort(list, [](const jit::CacheListing &a, const jit::CacheListing &b) {
    return std::tie(b.used, a.path) < std::tie(a.used, b.path);
  });
  return list;
}

Result<int> list(const Session &session) {
  Compiler compiler(session.compilerOptions());
  if (auto folder = usableFolder(compiler.cache()); !folder)
    return folder.takeError();
  EntryList entries(compiler.cache(), listings(compiler.cache()));
  if (session.json)
    printJson({{"entries", entries.json()}});
  else
    entries.print();
  return 0;
}

Result<int> info(const Session &session) {
  Compiler compiler(session.compilerOptions());
  Result<jit::CacheFolder *> usable = usableFolder(compiler.cache());
  if (!usable)
    return usable.takeError();
  const jit::CacheFolder *folder = *usable;
  Json kinds = Json::object();
  Table table({"kind", ">entries", ">bytes"});
  uint64_t total = 0;
  std::vector<jit::CacheListing> all = compiler.cache().list();
  for (unsigned kind = 0; kind < unsigned(jit::EntryKind::count); ++kind) {
    uint64_t entries = 0, bytes = 0;
    for (const jit::CacheListing &entry : all)
      if (entry.kind == jit::EntryKind(kind))
        ++entries, bytes += entry.bytes;
    total += bytes;
    table.add({kindName(jit::EntryKind(kind)), std::to_string(entries), std::to_string(bytes)});
    kinds[kindName(jit::EntryKind(kind))] = {{"entries", entries}, {"bytes", bytes}};
  }
  int64_t cap = session.settings.number(jit::Knob::cache_size);
  if (session.json) {
    printJson({{"folder", folder->place()},
               {"writable", folder->isWritable()},
               {"bytes", total},
               {"cap_bytes", cap},
               {"kinds", kinds}});
    return 0;
  }
  std::cout << "folder  " << folder->place() << (folder->isWritable() ? "" : " (read only)") << "\n"
            << "size    " << total << " of at most " << cap << " bytes\n\n";
  table.print(std::cout);
  return 0;
}

} // namespace

void addCacheCommand(CLI::App &app, Session &session) {
  CLI::App *command = app.add_subcommand("cache", "Look at the kernel cache, and empty it");
  command->require_subcommand(1);
  CLI::App *ls = command->add_subcommand("ls", "List the entries, those used last first");
  CLI::App *about = command->add_subcommand("info", "Folder, size and cap");
  addJsonFlag(*ls, session);
  addJsonFlag(*about, session);
  ls->callback([&session] { session.action = [&session] { return list(session); }; });
  about->callback([&session] { session.action = [&session] { return info(session); }; });
  addExplainCommand(*command, session);
  addPruneCommand(*command, session);
}

} // namespace fw::cli
