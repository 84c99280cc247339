// What `fusewright cache explain` says of a kernel or an object.
#include "tools/cli/CacheEntries.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

/// The programs whose record names a kernel.
std::vector<std::string> usersOf(jit::Cache &cache, const std::string &key) {
  std::vector<std::string> users;
  for (const jit::CacheListing &entry : cache.list()) {
    if (entry.kind != jit::EntryKind::Program)
      continue;
    std::optional<jit::ProgramRecord> record = programOf(cache, entry.key);
    if (record && std::ranges::any_of(record->kernels, [&](const jit::KernelRecord &kernel) {
          return kernel.key == key;
        }))
      users.push_back(entry.key);
  }
  return users;
}

Json launchJson(const jit::LaunchRecord &launch) {
  return {{"symbol", launch.symbol},
          {"schedule", launch.schedule},
          {"threads", launch.threads},
          {"registers", launch.registers},
          {"spill_bytes", launch.spillBytes},
          {"shared_bytes", launch.sharedBytes + std::max(0, launch.staticSharedBytes)}};
}

} // namespace

Result<int> explainCode(const Session &session, jit::Cache &cache, const jit::CacheListing &entry) {
  jit::EntryPtr stored = cache.peek(entry.kind, entry.key);
  const std::string *bytes = stored ? stored->find(jit::Section::Record) : nullptr;
  if (!bytes)
    return Error{Code::CACHE, "expected a readable entry, got " + entry.path,
                 "it is made anew when it is needed"};
  Result<jit::LaunchRecord> launch = jit::decodeLaunchRecord(*bytes);
  if (!launch)
    return launch.takeError();
  Json facts = launchJson(*launch);
  facts["programs"] = usersOf(cache, entry.key);
  Json out = {{"kind", kindName(entry.kind)},
              {"key", entry.key},
              {"path", entry.path},
              {"bytes", entry.bytes}};
  out.update(facts);
  if (session.json) {
    printJson(out);
    return 0;
  }
  for (const auto &[name, value] : out.items())
    if (!value.is_array())
      std::cout << name << "  " << (value.is_string() ? value.get<std::string>() : value.dump())
                << "\n";
  for (const Json &program : out["programs"])
    std::cout << "program  " << program.get<std::string>() << "\n";
  return 0;
}

} // namespace fw::cli
