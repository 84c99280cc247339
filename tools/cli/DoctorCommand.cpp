// fusewright doctor: what works on this machine, what does not, and what to do about it.
#include "tools/cli/Commands.h"

#include "tools/cli/DoctorToolchain.h"

#include <iostream>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace fw::cli {

namespace {

Finding examineCpu(Compiler &compiler) {
  Finding finding{"CPU backend"};
  auto library = compiler.cpuLibrary();
  if (!library) {
    finding.problems.push_back(library.takeError());
    return finding;
  }
  finding.facts = {{"version", (*library)->version()},
                   {"path", (*library)->path()},
                   {"features", (*library)->hostFeatures()}};
  return finding;
}

std::string ownerOf(const std::string &path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0)
    return "unknown";
  const passwd *user = ::getpwuid(facts.st_uid);
  return user ? user->pw_name : std::to_string(facts.st_uid);
}

uint64_t freeBytes(const std::string &path) {
  struct statvfs facts;
  return ::statvfs(path.c_str(), &facts) == 0 ? uint64_t(facts.f_bavail) * facts.f_frsize : 0;
}

Json folderFacts(const jit::CacheFolder &folder) {
  uint64_t bytes = 0;
  std::vector<jit::CacheListing> entries = folder.list();
  for (const jit::CacheListing &entry : entries)
    bytes += entry.bytes;
  return {{"folder", folder.place()},
          {"owner", ownerOf(folder.place())},
          {"writable", folder.isWritable()},
          {"entries", entries.size()},
          {"size_bytes", bytes},
          {"free_bytes", freeBytes(folder.place())}};
}

/// The user's folder: the first of the choices that can be used.
void examineUserFolder(const jit::CacheOptions &options, Finding &finding) {
  Json unusable = Json::array();
  for (const jit::FolderChoice &choice : options.folders) {
    jit::CacheFolder::Options how = options.folder;
    how.followRoot = choice.followRoot;
    auto opened = jit::CacheFolder::open(choice.path, how);
    if (auto *folder = std::get_if<std::unique_ptr<jit::CacheFolder>>(&opened)) {
      finding.facts = folderFacts(**folder);
      break;
    }
    unusable.push_back(jit::render(std::get<jit::CacheFailure>(opened)));
    if (choice.explicitly)
      break;
  }
  if (!unusable.empty())
    finding.facts["not usable"] = unusable;
  if (!finding.facts.contains("folder"))
    finding.problems.push_back({Code::CACHE,
                                "expected a usable folder, got none; kernels stay in memory",
                                "point FUSEWRIGHT_CACHE_DIR at a folder of this user"});
}

void examineReadOnlyFolders(const jit::CacheOptions &options, Finding &finding) {
  jit::CacheFolder::Options how = options.folder;
  how.readOnly = true;
  Json folders = Json::array();
  for (const std::string &path : options.readOnlyFolders) {
    auto opened = jit::CacheFolder::open(path, how);
    if (auto *folder = std::get_if<std::unique_ptr<jit::CacheFolder>>(&opened))
      folders.push_back({{"folder", path}, {"entries", (*folder)->list().size()}});
    else
      finding.notes.push_back(jit::render(std::get<jit::CacheFailure>(opened)));
  }
  if (!folders.empty())
    finding.facts["read only"] = folders;
}

Finding examineCache(const jit::Settings &settings) {
  Finding finding{"kernel cache"};
  jit::CacheOptions options = jit::cacheOptions(settings);
  if (settings.number(jit::Knob::cache_size) == 0)
    finding.notes.push_back("FUSEWRIGHT_CACHE_SIZE=0 keeps nothing on disk");
  else
    examineUserFolder(options, finding);
  examineReadOnlyFolders(options, finding);
  return finding;
}

Finding examineSettings(const Session &session) {
  Finding finding{"settings from the environment"};
  finding.problems = session.wrongSettings;
  unsigned index = 0;
  for (const jit::KnobRow &row : jit::knobs()) {
    auto knob = jit::Knob(index++);
    if (session.settings.isSet(knob))
      finding.facts[jit::variableName(row)] = session.settings.text(knob);
  }
  return finding;
}

Result<int> examine(const Session &session) {
  Compiler compiler(session.compilerOptions());
  GpuSide side = GpuSide::find(session.settings);
  std::vector<Finding> findings = {examineDriver(side), examineNvrtc(side), examineCpu(compiler),
                                   examineCache(session.settings), examineSettings(session)};
  if (session.json)
    printJson(toJson(findings));
  else
    print(findings);
  return exitCode(findings);
}

} // namespace

void addDoctorCommand(CLI::App &app, Session &session) {
  CLI::App *command = app.add_subcommand(
      "doctor", "Examine GPUs, toolchain, CPU backend, cache and settings; say what to do");
  addJsonFlag(*command, session);
  command->footer("The exit code is that of the first part that does not work; without a GPU it "
                  "is 4, and the rest may\nwork all the same.");
  command->callback([&session] {
    session.takesWrongSettings = true;
    session.action = [&session] { return examine(session); };
  });
}

} // namespace fw::cli
