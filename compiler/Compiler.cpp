#include "compiler/Compiler.h"

#include "compiler/Dump.h"
#include "compiler/Stages.h"
#include "compiler/jit/Artefacts.h"
#include "compiler/jit/Hash.h"
#include "compiler/jit/Nvrtc.h"
#include "compiler/support/FloatMode.h"
#include "compiler/target/Target.h"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace fw {

using ProgramPtr = std::shared_ptr<const Program>;

Result<Stage> parseStage(std::string_view name) {
  constexpr std::pair<std::string_view, Stage> kStages[] = {{"semantic", Stage::SEMANTIC},
                                                            {"phases", Stage::PHASES},
                                                            {"cuda", Stage::CUDA},
                                                            {"ptx", Stage::PTX},
                                                            {"llvm", Stage::LLVM}};
  for (auto &[known, stage] : kStages)
    if (known == name)
      return stage;
  return Error{.code = Code::USAGE,
               .text = "expected a stage, got '" + std::string(name) + "'",
               .remedy = "use one of semantic, phases, cuda, ptx, llvm"};
}

namespace {

/// Opens something once per compiler; a failure is tried again, since the remedy may be at hand.
template <class T> class Lazy {
public:
  template <class Open> Result<std::shared_ptr<const T>> get(Open open) {
    std::lock_guard lock(mutex);
    if (value)
      return value;
    Result<std::shared_ptr<const T>> opened = open();
    if (opened)
      value = *opened;
    return opened;
  }

private:
  std::mutex mutex;
  std::shared_ptr<const T> value;
};

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

jit::CacheOptions cacheOptionsFor(const CompilerOptions &options) {
  jit::CacheOptions out = jit::cacheOptions(options.settings);
  out.reporter = jit::Reporter(options.log);
  return out;
}

/// Every stage belongs to the target that it is on the way to.
Result<void> checkStage(const std::string &target, Stage stage) {
  bool forCpu = target::isCpuTarget(target);
  if (forCpu && (stage == Stage::CUDA || stage == Stage::PTX))
    return Error{.code = Code::USAGE,
                 .text = "expected an arch for the stages cuda and ptx, got target 'cpu'",
                 .remedy = "name one; `fusewright doctor` lists them"};
  if (!forCpu && stage == Stage::LLVM)
    return Error{.code = Code::USAGE,
                 .text = "expected target 'cpu' for the stage llvm, got '" + target + "'",
                 .remedy = "leave the arch out"};
  return {};
}

/// A kernel that only a compiler could give.
Error asStrictMiss(const ResolvedRequest &request, const Error &cause) {
  return Error{.code = Code::STRICT_MISS,
               .text = "strict mode: expected a cached program, got none for " + describe(request),
               .remedy = "run `fusewright precompile` with the same settings, or leave strict mode",
               .log = render(cause) + "\n" + request.canonicalText};
}

} // namespace

struct Compiler::Impl {
  explicit Impl(CompilerOptions given)
      : options(std::move(given)), cache(cacheOptionsFor(options)) {}

  CompilerOptions options;
  jit::Cache cache;
  Lazy<CpuLibrary> cpuLibrary;
  Lazy<jit::KernelCompiler> nvrtc;

  std::shared_mutex mutex;
  std::unordered_map<std::string, ProgramPtr> programs; ///< by program key; looked up, never walked

  Result<std::shared_ptr<const CpuLibrary>> openCpu() {
    return cpuLibrary.get([&] { return CpuLibrary::open(options.settings); });
  }
  Result<std::shared_ptr<const jit::KernelCompiler>> openNvrtc() {
    return nvrtc.get([&]() -> Result<std::shared_ptr<const jit::KernelCompiler>> {
      auto opened = jit::Nvrtc::open(options.settings);
      if (!opened)
        return opened.takeError();
      return std::shared_ptr<const jit::KernelCompiler>(std::move(*opened));
    });
  }

  ProgramPtr known(const std::string &key) {
    std::shared_lock lock(mutex);
    auto found = programs.find(key);
    return found == programs.end() ? nullptr : found->second;
  }

  Result<std::string> cpuFeatures(const CpuLibrary &library, bool runsHere) const {
    return library.readFeatures(options.settings.text(jit::Knob::cpu_features), runsHere);
  }

  /// CPU programs depend on the machine's features, so a shared folder may serve different hosts.
  Result<std::string> keyOf(const ResolvedRequest &request) {
    if (!target::isCpuTarget(request.request.target))
      return jit::programKey(request.canonicalText, request.opHash);
    auto library = openCpu();
    if (!library)
      return library.takeError();
    auto features = cpuFeatures(**library, options.runsHere);
    if (!features)
      return features.takeError();
    return jit::programKey(request.canonicalText + "cpu " + *features + "\n" +
                               (*library)->version() + "\n",
                           request.opHash);
  }

  // --- From source to kernels -------------------------------------------------------------------

  Result<jit::ArtefactPtr> compileCuda(const ResolvedRequest &request,
                                       const jit::LaunchRecord &launch, const std::string &source) {
    auto compiler = openNvrtc();
    if (!compiler) {
      Error missing = compiler.takeError();
      if (cache.isStrict())
        missing.code = Code::STRICT_MISS; // without its version no kernel can be found, nor made
      return missing;
    }
    auto arch = target::findArch(request.request.target);
    if (!arch)
      return arch.takeError();
    auto how = target::compileTargetFor(**arch, (*compiler)->supportedArchs());
    if (!how)
      return how.takeError();
    return jit::compileKernel(cache, **compiler,
                              {.source = source,
                               .arch = how->option,
                               .launch = launch,
                               .description = describe(request)});
  }

  Result<jit::ArtefactPtr> compileCpu(const ResolvedRequest &request,
                                      const jit::LaunchRecord &launch, const std::string &phases) {
    auto library = openCpu();
    if (!library)
      return library.takeError();
    auto features = cpuFeatures(**library, options.runsHere);
    if (!features)
      return features.takeError();
    return jit::compileObject(cache,
                              {.phaseText = phases,
                               .cpuFeatures = *features,
                               .backendVersion = (*library)->version(),
                               .launch = launch,
                               .description = describe(request)},
                              [&] { return (*library)->compile(phases, *features, "object"); });
  }

  void dumpStages(const ResolvedRequest &request, const Lowered &lowered, const std::string &folder,
                  const std::string &key) {
    const bool forCpu = lowered.sources.empty();
    dump({.folder = folder,
          .key = key,
          .lowered = lowered,
          .machineStage = forCpu ? "ll" : "ptx",
          .machineText = [&] { return forCpu ? llvmText(request) : ptxText(request); }},
         jit::Reporter(options.log));
  }

  /// The record with the key of every kernel, all of which are in the cache afterwards.
  Result<jit::ProgramRecord> produce(const ResolvedRequest &request, const std::string &key) {
    const std::string &folder = options.settings.text(jit::Knob::dump);
    auto lowered = lower(request, /*keepStages=*/!folder.empty());
    if (!lowered)
      return lowered.takeError();
    if (!folder.empty())
      dumpStages(request, *lowered, folder, key);
    auto first = compileKernels(request, *lowered);
    if (!first)
      return first;
    auto second = secondCandidate(request, *first);
    if (!second)
      return first;
    auto other = lower(*second);
    auto record = other ? compileKernels(*second, *other) : other.takeError();
    return record && spilledBytes(*record) < spilledBytes(*first) ? std::move(record)
                                                                  : std::move(first);
  }

  Result<jit::ProgramRecord> compileKernels(const ResolvedRequest &request,
                                            const Lowered &lowered) {
    jit::ProgramRecord record = lowered.record;
    for (size_t i = 0; i < record.kernels.size(); ++i) {
      const jit::LaunchRecord &launch = record.kernels[i].launch;
      auto kernel = lowered.sources.empty() ? compileCpu(request, launch, lowered.phases)
                                            : compileCuda(request, launch, lowered.sources[i]);
      if (!kernel)
        return kernel.error().code == Code::STRICT_MISS ? asStrictMiss(request, kernel.error())
                                                        : kernel.takeError();
      record.kernels[i] = {(*kernel)->launch, (*kernel)->key};
    }
    return record;
  }

  // --- From record to program -------------------------------------------------------------------

  /// Without an image when no layer has the kernel any more.
  Result<ProgramKernel> loadKernel(const jit::KernelRecord &record, bool forCpu) {
    auto artefact = jit::findArtefact(
        cache, forCpu ? jit::EntryKind::Object : jit::EntryKind::Kernel, record.key);
    if (!artefact)
      return artefact.takeError();
    ProgramKernel kernel{.image = *artefact};
    if (!forCpu || !kernel.image)
      return kernel;
    auto library = openCpu();
    if (!library)
      return library.takeError();
    auto linked = (*library)->link(kernel.image->code, record.launch.symbol);
    if (!linked)
      return linked.takeError();
    kernel.function = linked->function;
    kernel.code = linked->code;
    return kernel;
  }

  /// Null when a kernel of the record is in no layer any more.
  Result<std::shared_ptr<Program>> load(const ResolvedRequest &request, jit::ProgramRecord record) {
    auto program = std::make_shared<Program>();
    for (const jit::KernelRecord &kernel : record.kernels) {
      auto loaded = loadKernel(kernel, target::isCpuTarget(request.request.target));
      if (!loaded)
        return loaded.takeError();
      if (!loaded->image)
        return std::shared_ptr<Program>();
      program->kernels.push_back(std::move(*loaded));
    }
    program->request = request;
    program->record = std::move(record);
    return program;
  }

  /// The record from disk or made now; `made` says which.
  Result<jit::ProgramRecord> findRecord(const ResolvedRequest &request, const std::string &key,
                                        bool &made) {
    return jit::compileProgram(cache, key, describe(request), [&] {
      made = true;
      return produce(request, key);
    });
  }

  Result<std::shared_ptr<Program>> build(const ResolvedRequest &request, const std::string &key,
                                         bool &made) {
    auto record = findRecord(request, key, made);
    if (!record)
      return record.takeError();
    auto program = load(request, *record);
    if (!program || *program)
      return program;
    made = true; // the record outlived its kernels
    record = produce(request, key);
    if (!record)
      return record.takeError();
    program = load(request, *record);
    if (program && !*program)
      return Error{Code::INTERNAL, "expected the kernels just compiled in the cache, got none"};
    return program;
  }

  Result<ProgramPtr> compile(const ResolvedRequest &request, const std::string &key) {
    auto start = std::chrono::steady_clock::now();
    bool made = false;
    auto program = build(request, key, made);
    if (!program)
      return program.takeError();
    (*program)->origin = made ? Origin::COMPILED : Origin::DISK;
    (*program)->key = key;
    (*program)->milliseconds = millisecondsSince(start);
    std::unique_lock lock(mutex);
    return programs.try_emplace(key, std::move(*program)).first->second;
  }

  Result<std::string> ptxText(const ResolvedRequest &request) {
    auto lowered = lower(request);
    if (!lowered)
      return lowered.takeError();
    auto compiler = openNvrtc();
    if (!compiler)
      return compiler.takeError();
    auto arch = target::findArch(request.request.target);
    if (!arch)
      return arch.takeError();
    std::string out;
    for (size_t i = 0; i < lowered->sources.size(); ++i) {
      auto ptx = (*compiler)->compile(lowered->sources[i],
                                      lowered->record.kernels[i].launch.symbol + ".cu",
                                      target::virtualName(**arch), (*compiler)->flags());
      if (!ptx)
        return ptx.takeError();
      out += ptx->ptx;
    }
    return out;
  }

  Result<std::string> llvmText(const ResolvedRequest &request) {
    auto phases = phasesText(request);
    if (!phases)
      return phases;
    auto library = openCpu();
    if (!library)
      return library.takeError();
    auto features = cpuFeatures(**library, /*runsHere=*/false);
    if (!features)
      return features;
    return (*library)->compile(*phases, *features, "llvm");
  }
};

Compiler::Compiler(CompilerOptions options) : impl(std::make_unique<Impl>(std::move(options))) {}
Compiler::~Compiler() = default;

Result<ProgramPtr> Compiler::compile(const Request &request) {
  StandardFloatMode mode; // constants are folded in the mode of the kernels
  auto resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  auto key = impl->keyOf(*resolved);
  if (!key)
    return key.takeError();
  if (ProgramPtr program = impl->known(*key))
    return program;
  return impl->compile(*resolved, *key);
}

Result<std::string> Compiler::text(const Request &request, Stage stage) {
  StandardFloatMode mode;
  if (auto fits = checkStage(request.target, stage); !fits)
    return fits.takeError();
  auto resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  switch (stage) {
  case Stage::SEMANTIC:
    return semanticText(*resolved, /*afterFma=*/false);
  case Stage::PHASES:
    return phasesText(*resolved);
  case Stage::CUDA: {
    auto lowered = lower(*resolved);
    if (!lowered)
      return lowered.takeError();
    std::string out;
    for (const std::string &source : lowered->sources)
      out += source;
    return out;
  }
  case Stage::PTX:
    if (impl->cache.isStrict())
      return Error{.code = Code::STRICT_MISS,
                   .text = "strict mode: expected a stage that needs no compile, got ptx for " +
                           describe(*resolved),
                   .remedy = "ask for the stage cuda, or leave strict mode"};
    return impl->ptxText(*resolved);
  case Stage::LLVM:
    return impl->llvmText(*resolved);
  }
  return Error{Code::INTERNAL, "expected a stage, got another number"};
}

jit::Cache &Compiler::cache() { return impl->cache; }
const jit::Settings &Compiler::settings() const { return impl->options.settings; }
Result<std::shared_ptr<const CpuLibrary>> Compiler::cpuLibrary() { return impl->openCpu(); }
Result<std::shared_ptr<const jit::KernelCompiler>> Compiler::kernelCompiler() {
  return impl->openNvrtc();
}

} // namespace fw
