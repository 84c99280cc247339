// What the cache commands say of an entry.
#pragma once

#include "tools/cli/Session.h"
#include "tools/cli/Table.h"

#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace fw::cli {

/// "program", "kernel" or "object".
const char *kindName(jit::EntryKind kind);

/// "2026-11-30 06:20", UTC.
std::string timeText(time_t time);

/// The user's folder; CACHE when there is none.
Result<jit::CacheFolder *> usableFolder(jit::Cache &cache);

/// Looking is no use: the entry's age stays.
std::optional<jit::ProgramRecord> programOf(jit::Cache &cache, const std::string &key);

/// What a stored program's key was made of, one fact a line; empty where its writer kept none.
std::vector<std::string> factsOf(jit::Cache &cache, const std::string &key);

std::vector<std::string> linesOf(const std::string &text);

/// The entries as a table or as JSON; what each is, as far as its own record says: "adamw for
/// sm_90", or a kernel's symbol.
class EntryList {
public:
  EntryList(jit::Cache &cache, const std::vector<jit::CacheListing> &listings);
  void print() const;
  const Json &json() const { return entries; }

private:
  Table table;
  Json entries = Json::array();
};

/// A kernel or object: what it is, and which programs launch it.
Result<int> explainCode(const Session &session, jit::Cache &cache, const jit::CacheListing &entry);

// The commands that stand in files of their own.
void addExplainCommand(CLI::App &cache, Session &session);
void addPruneCommand(CLI::App &cache, Session &session);

} // namespace fw::cli
