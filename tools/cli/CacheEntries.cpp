#include "tools/cli/CacheEntries.h"

#include <iostream>

namespace fw::cli {

namespace {

std::string describeEntry(jit::Cache &cache, const jit::CacheListing &listing) {
  if (listing.kind == jit::EntryKind::Program) {
    std::optional<jit::ProgramRecord> record = programOf(cache, listing.key);
    return record ? record->op + " for " + record->target : "unreadable";
  }
  jit::EntryPtr entry = cache.peek(listing.kind, listing.key);
  const std::string *bytes = entry ? entry->find(jit::Section::Record) : nullptr;
  Result<jit::LaunchRecord> launch = bytes ? jit::decodeLaunchRecord(*bytes) : Error{};
  return launch ? launch->symbol : "unreadable";
}

} // namespace

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

Result<jit::CacheFolder *> usableFolder(jit::Cache &cache) {
  if (jit::CacheFolder *folder = cache.folder())
    return folder;
  return Error{Code::CACHE, "expected a cache folder, got none that can be used",
               "point FUSEWRIGHT_CACHE_DIR at a folder of this user"};
}

std::optional<jit::ProgramRecord> programOf(jit::Cache &cache, const std::string &key) {
  jit::EntryPtr entry = cache.peek(jit::EntryKind::Program, key);
  const std::string *bytes = entry ? entry->find(jit::Section::Record) : nullptr;
  Result<jit::ProgramRecord> record = bytes ? jit::decodeProgramRecord(*bytes) : Error{};
  return record ? std::optional(std::move(*record)) : std::nullopt;
}

std::vector<std::string> factsOf(jit::Cache &cache, const std::string &key) {
  jit::EntryPtr entry = cache.peek(jit::EntryKind::Program, key);
  const std::string *facts = entry ? entry->find(jit::Section::Facts) : nullptr;
  return facts ? linesOf(*facts) : std::vector<std::string>();
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

EntryList::EntryList(jit::Cache &cache, const std::vector<jit::CacheListing> &listings)
    : table({"kind", "entry", ">bytes", "used (UTC)", "key"}) {
  for (const jit::CacheListing &entry : listings) {
    std::string what = describeEntry(cache, entry);
    table.add({kindName(entry.kind), what, std::to_string(entry.bytes), timeText(entry.used),
               entry.key.substr(0, 16)});
    entries.push_back({{"kind", kindName(entry.kind)},
                       {"entry", what},
                       {"bytes", entry.bytes},
                       {"used", int64_t(entry.used)},
                       {"key", entry.key},
                       {"path", entry.path}});
  }
}

void EntryList::print() const { table.print(std::cout); }

} // namespace fw::cli
