// fusewright cache ls|info: what is on disk.
#include "tools/cli/Commands.h"

#include "compiler/jit/Artefacts.h"
#include "tools/cli/Table.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>

namespace fw::cli {

namespace {

const char *kindName(jit::EntryKind kind) {
  switch (kind) {
  case jit::EntryKind::Program:
    return "program";
  case jit::EntryKind::Kernel:
    return "kernel";
  case jit::EntryKind::Object:
    return "object";
  default:
    return "?";
  }
}

std::string timeText(time_t time) {
  char text[32];
  std::tm parts = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", gmtime_r(&time, &parts));
  return text;
}

/// What an entry is, as far as its own record says: "adamw for sm_90", or a kernel's symbol.
std::string describeEntry(jit::Cache &cache, const jit::CacheListing &listing) {
  if (listing.kind == jit::EntryKind::Program) {
    jit::EntryPtr entry = cache.find(listing.kind, listing.key);
    const std::string *bytes = entry ? entry->find(jit::Section::Record) : nullptr;
    Result<jit::ProgramRecord> record = bytes ? jit::decodeProgramRecord(*bytes) : Error{};
    return record ? record->op + " for " + record->target : "unreadable";
  }
  Result<jit::ArtefactPtr> artefact = jit::findArtefact(cache, listing.kind, listing.key);
  return artefact && *artefact ? (*artefact)->launch.symbol : "unreadable";
}

/// Newest first.
std::vector<jit::CacheListing> listings(jit::Cache &cache) {
  std::vector<jit::CacheListing> list = cache.list();
  std::ranges::sort(list, [](const jit::CacheListing &a, const jit::CacheListing &b) {
    return std::tie(b.used, a.path) < std::tie(a.used, b.path);
  });
  return list;
}

Result<jit::CacheFolder *> usableFolder(jit::Cache &cache) {
  if (jit::CacheFolder *folder = cache.folder())
    return folder;
  return Error{Code::CACHE, "expected a cache folder, got none that can be used",
               "point FUSEWRIGHT_CACHE_DIR at a folder of this user"};
}

Result<int> list(const Session &session) {
  Compiler compiler(session.compilerOptions());
  if (auto folder = usableFolder(compiler.cache()); !folder)
    return folder.takeError();
  Json entries = Json::array();
  Table table({"kind", "entry", ">bytes", "used (UTC)", "key"});
  for (const jit::CacheListing &entry : listings(compiler.cache())) {
    std::string what = describeEntry(compiler.cache(), entry);
    table.add({kindName(entry.kind), what, std::to_string(entry.bytes), timeText(entry.used),
               entry.key.substr(0, 16)});
    entries.push_back({{"kind", kindName(entry.kind)},
                       {"entry", what},
                       {"bytes", entry.bytes},
                       {"used", int64_t(entry.used)},
                       {"key", entry.key},
                       {"path", entry.path}});
  }
  if (session.json)
    std::cout << Json{{"entries", entries}}.dump(2) << "\n";
  else
    table.print(std::cout);
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
    std::cout << Json{{"folder", folder->place()},
                      {"writable", folder->isWritable()},
                      {"bytes", total},
                      {"cap_bytes", cap},
                      {"kinds", kinds}}
                     .dump(2)
              << "\n";
    return 0;
  }
  std::cout << "folder  " << folder->place() << (folder->isWritable() ? "" : " (read only)") << "\n"
            << "size    " << total << " of at most " << cap << " bytes\n\n";
  table.print(std::cout);
  return 0;
}

} // namespace

void addCacheCommand(CLI::App &app, Session &session) {
  CLI::App *command = app.add_subcommand("cache", "Look at the kernel cache");
  command->require_subcommand(1);
  CLI::App *ls = command->add_subcommand("ls", "List the entries, those used last first");
  CLI::App *about = command->add_subcommand("info", "Folder, size and cap");
  addJsonFlag(*ls, session);
  addJsonFlag(*about, session);
  ls->callback([&session] { session.action = [&session] { return list(session); }; });
  about->callback([&session] { session.action = [&session] { return info(session); }; });
}

} // namespace fw::cli
