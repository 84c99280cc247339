// fusewright doctor: what works on this machine, what does not, and what to do about it.
#include "tools/cli/Commands.h"

#include "compiler/jit/Hash.h"
#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

/// One part of the machine: facts as pairs, and the error when it does not work.
struct Finding {
  std::string part;
  Json facts = Json::object();
  std::optional<Error> error;
};

/// Archs of the table that this NVRTC compiles for.
std::vector<std::string> commonArchs(const jit::Nvrtc &nvrtc) {
  std::vector<int> supported = nvrtc.supportedArchs();
  std::vector<std::string> names;
  for (const target::Arch &arch : target::archs())
    if (std::ranges::find(supported, arch.number) != supported.end())
      names.push_back(arch.name);
  return names;
}

Finding examineNvrtc(const jit::Settings &settings) {
  Finding finding{"NVRTC (kernels for GPUs)", Json::object(), std::nullopt};
  auto nvrtc = jit::Nvrtc::open(settings);
  if (!nvrtc) {
    finding.error = nvrtc.takeError();
    return finding;
  }
  std::vector<std::string> archs = commonArchs(**nvrtc);
  finding.facts = {{"version", (*nvrtc)->version()},
                   {"path", (*nvrtc)->path()},
                   {"found in", (*nvrtc)->place()},
                   {"builtins", (*nvrtc)->builtinsName() +
                                    ((*nvrtc)->builtinsBeside() ? " beside it" : " elsewhere")},
                   {"archs", archs}};
  // Only a compile shows whether the builtins library opens.
  if (archs.empty())
    return finding;
  auto compiled = (*nvrtc)->compile("extern \"C\" __global__ void empty() {}\n", "empty.cu",
                                    archs.back(), (*nvrtc)->flags());
  if (compiled)
    finding.facts["empty kernel"] = std::to_string(int(compiled->milliseconds + 0.5)) + " ms";
  else
    finding.error = compiled.takeError();
  return finding;
}

Finding examineCpu(Compiler &compiler) {
  Finding finding{"CPU backend", Json::object(), std::nullopt};
  auto library = compiler.cpuLibrary();
  if (!library) {
    finding.error = library.takeError();
    return finding;
  }
  finding.facts = {{"version", (*library)->version()},
                   {"path", (*library)->path()},
                   {"features", (*library)->hostFeatures()}};
  return finding;
}

Finding examineCache(const jit::Settings &settings) {
  Finding finding{"kernel cache", Json::object(), std::nullopt};
  jit::CacheOptions options = jit::cacheOptions(settings);
  Json tried = Json::array();
  for (const jit::FolderChoice &choice : options.folders) {
    jit::CacheFolder::Options how = options.folder;
    how.followRoot = choice.followRoot;
    auto opened = jit::CacheFolder::open(choice.path, how);
    if (auto *folder = std::get_if<std::unique_ptr<jit::CacheFolder>>(&opened)) {
      uint64_t bytes = 0;
      std::vector<jit::CacheListing> entries = (*folder)->list();
      for (const jit::CacheListing &entry : entries)
        bytes += entry.bytes;
      finding.facts["folder"] = choice.path;
      finding.facts["entries"] = entries.size();
      finding.facts["bytes"] = bytes;
      break;
    }
    tried.push_back(jit::render(std::get<jit::CacheFailure>(opened)));
    if (choice.explicitly)
      break;
  }
  if (!tried.empty())
    finding.facts["not usable"] = tried;
  if (!finding.facts.contains("folder"))
    finding.error = Error{Code::CACHE, "expected a usable folder, got none; kernels stay in memory",
                          "point FUSEWRIGHT_CACHE_DIR at a folder of this user"};
  return finding;
}

Finding listSettings(const jit::Settings &settings) {
  Finding finding{"settings from the environment", Json::object(), std::nullopt};
  unsigned index = 0;
  for (const jit::KnobRow &row : jit::knobs()) {
    auto knob = jit::Knob(index++);
    if (settings.isSet(knob))
      finding.facts[jit::variableName(row)] = settings.text(knob);
  }
  return finding;
}

std::string factText(const Json &fact) {
  if (fact.is_string())
    return fact.get<std::string>();
  if (!fact.is_array())
    return fact.dump();
  std::string out;
  for (const Json &item : fact)
    out += (out.empty() ? "" : ", ") + factText(item);
  return out;
}

void print(const std::vector<Finding> &findings) {
  for (const Finding &finding : findings) {
    std::cout << finding.part << ": " << (finding.error ? "does not work" : "ok") << "\n";
    for (const auto &[name, fact] : finding.facts.items())
      std::cout << "  " << name << ": " << factText(fact) << "\n";
    if (finding.error)
      std::cout << "  problem: " << finding.error->text << "\n  remedy: " << finding.error->remedy
                << "\n";
  }
}

Json toJson(const std::vector<Finding> &findings) {
  Json parts = Json::array();
  for (const Finding &finding : findings) {
    Json part = {{"part", finding.part}, {"ok", !finding.error}, {"facts", finding.facts}};
    if (finding.error)
      part.update({{"problem", finding.error->text},
                   {"remedy", finding.error->remedy},
                   {"log", finding.error->log}});
    parts.push_back(std::move(part));
  }
  return {{"build", jit::compilerBuildId()}, {"parts", parts}};
}

Result<int> examine(const Session &session) {
  Compiler compiler(session.compilerOptions());
  std::vector<Finding> findings = {examineNvrtc(session.settings), examineCpu(compiler),
                                   examineCache(session.settings), listSettings(session.settings)};
  if (session.json)
    std::cout << toJson(findings).dump(2) << "\n";
  else
    print(findings);
  int code = 0;
  for (const Finding &finding : findings)
    if (finding.error) {
      if (!session.json)
        std::cerr << finding.error->log;
      code = code ? code : int(finding.error->code);
    }
  return code;
}

} // namespace

void addDoctorCommand(CLI::App &app, Session &session) {
  CLI::App *command = app.add_subcommand(
      "doctor", "Examine toolchain, CPU backend, cache and settings; say what to do");
  addJsonFlag(*command, session);
  command->callback([&session] { session.action = [&session] { return examine(session); }; });
}

} // namespace fw::cli
