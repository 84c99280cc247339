#include "compiler/Compiler.h"

#include "compiler/Builder.h"
#include "compiler/Dump.h"
#include "compiler/RuntimeKernels.h"
#include "compiler/Standing.h"
#include "compiler/jit/Hash.h"
#include "compiler/support/FloatMode.h"
#include "compiler/support/Stack.h"
#include "compiler/target/Target.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace fw {

using ProgramPtr = std::shared_ptr<const Program>;

Result<TextStage> parseStage(std::string_view name) {
  constexpr std::pair<std::string_view, TextStage> kStages[] = {{"semantic", TextStage::SEMANTIC},
                                                                {"phases", TextStage::PHASES},
                                                                {"cuda", TextStage::CUDA},
                                                                {"ptx", TextStage::PTX},
                                                                {"llvm", TextStage::LLVM}};
  for (auto &[known, stage] : kStages)
    if (known == name)
      return stage;
  return Error{.code = Code::USAGE,
               .text = "expected a stage, got '" + std::string(name) + "'",
               .remedy = "use one of semantic, phases, cuda, ptx, llvm"};
}

namespace {

/// Every stage belongs to the target that it is on the way to.
Result<void> checkStage(const std::string &target, TextStage stage) {
  bool forCpu = target::isCpuTarget(target);
  if (forCpu && (stage == TextStage::CUDA || stage == TextStage::PTX))
    return Error{.code = Code::USAGE,
                 .text = "expected an arch for the stages cuda and ptx, got target 'cpu'",
                 .remedy = "name one; `fusewright doctor` lists them"};
  if (!forCpu && stage == TextStage::LLVM)
    return Error{.code = Code::USAGE,
                 .text = "expected target 'cpu' for the stage llvm, got '" + target + "'",
                 .remedy = "leave the arch out"};
  return {};
}

/// Programs that this process has, by key; looked up, never walked.
template <class T> class Known {
public:
  std::shared_ptr<const T> find(const std::string &key) {
    std::shared_lock lock(mutex);
    auto found = programs.find(key);
    return found == programs.end() ? nullptr : found->second;
  }
  /// What another thread has added in the meantime stays.
  std::shared_ptr<const T> add(const std::string &key, std::shared_ptr<const T> program) {
    std::unique_lock lock(mutex);
    return programs.try_emplace(key, std::move(program)).first->second;
  }

private:
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const T>> programs;
};

} // namespace

struct Compiler::Impl {
  explicit Impl(CompilerOptions given) : builder(std::move(given)) {}

  Builder builder;
  Known<Program> programs;
  Known<CompiledKernels> runtimeKernels;

  Result<Subject> subjectOf(const ResolvedRequest &request) {
    auto machine = target::isCpuTarget(request.request.target) ? cpuText() : std::string();
    if (!machine)
      return machine.takeError();
    std::string text = request.canonicalText + *machine;
    return Subject{.target = request.request.target,
                   .key = jit::programKey(text, request.opHash),
                   .description = describe(request),
                   .facts = text + "op_hash " + request.opHash + "\ncompiler " +
                            std::string(jit::compilerBuildId()) + "\n"};
  }

  /// CPU programs depend on the machine's features, so a shared folder may serve different hosts.
  Result<std::string> cpuText() {
    auto library = builder.openCpu();
    if (!library)
      return library.takeError();
    auto features = builder.cpuFeatures(**library, builder.options.runsHere);
    if (!features)
      return features.takeError();
    return "cpu " + *features + "\n" + (*library)->version() + "\n";
  }

  void dumpStages(const ResolvedRequest &request, const Lowered &lowered, const std::string &folder,
                  const std::string &key) {
    const bool forCpu = lowered.sources.empty();
    dump({.folder = folder,
          .key = key,
          .lowered = lowered,
          .machineStage = forCpu ? "ll" : "ptx",
          .machineText = [&] { return forCpu ? llvmText(request) : ptxText(request); }},
         jit::Reporter(builder.options.log));
  }

  /// The record with the key of every kernel, all of which are in the cache afterwards.
  Result<jit::ProgramRecord> produce(const ResolvedRequest &request, const Subject &subject) {
    const std::string &folder = builder.options.settings.text(jit::Knob::dump);
    auto lowered = lower(request, /*keepStages=*/!folder.empty());
    if (!lowered)
      return lowered.takeError();
    if (!folder.empty())
      dumpStages(request, *lowered, folder, subject.key);
    auto first = builder.compileKernels(subject, *lowered);
    if (!first)
      return first;
    auto second = secondCandidate(request, *first);
    if (!second)
      return first;
    auto other = lower(*second);
    auto record = other ? builder.compileKernels(subject, *other) : other.takeError();
    return record ? withFewerSpills(std::move(*first), *record) : std::move(first);
  }

  Result<ProgramPtr> compile(const ResolvedRequest &request, const Subject &subject) {
    auto built = builder.build(subject, [&] { return produce(request, subject); });
    if (!built)
      return built.takeError();
    return programs.add(subject.key,
                        std::make_shared<const Program>(Program{std::move(*built), request}));
  }

  Result<std::string> text(const Request &request, TextStage stage);

  Result<std::string> ptxText(const ResolvedRequest &request) {
    auto lowered = lower(request);
    if (!lowered)
      return lowered.takeError();
    auto compiler = builder.openNvrtc();
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
    auto library = builder.openCpu();
    if (!library)
      return library.takeError();
    auto features = builder.cpuFeatures(**library, /*runsHere=*/false);
    if (!features)
      return features;
    return (*library)->compile(*phases, *features, "llvm");
  }
};

Compiler::Compiler(CompilerOptions options) : impl(std::make_unique<Impl>(std::move(options))) {}
Compiler::~Compiler() = default;

Result<ProgramPtr> Compiler::compile(const Request &request) {
  return onLargeStack([&]() -> Result<ProgramPtr> {
    StandardFloatMode mode; // constants are folded in the mode of the kernels
    auto resolved = resolve(request);
    if (!resolved)
      return resolved.takeError();
    auto subject = impl->subjectOf(*resolved);
    if (!subject)
      return subject.takeError();
    if (ProgramPtr program = impl->programs.find(subject->key))
      return program;
    return impl->compile(*resolved, *subject);
  });
}

Result<Standing> Compiler::standing(const Request &request) {
  StandardFloatMode mode;
  auto resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  auto subject = impl->subjectOf(*resolved);
  if (!subject)
    return subject.takeError();
  return standingOf(impl->builder, *subject, *resolved);
}

Result<std::string> Compiler::targetOf(int major, int minor) {
  std::optional<target::Toolchain> toolchain;
  if (!impl->builder.cache.isStrict())
    if (auto nvrtc = impl->builder.openNvrtc())
      toolchain = {(*nvrtc)->version(), (*nvrtc)->supportedArchs()};
  auto found = target::targetOfDevice(major, minor, toolchain ? &*toolchain : nullptr);
  if (!found)
    return found.takeError();
  if (!found->note.empty())
    jit::Reporter(impl->builder.options.log)
        .sayOnce(jit::Severity::Warning, "target " + found->note, found->note);
  return std::move(found->name);
}

Result<std::shared_ptr<const CompiledKernels>> Compiler::scalarsKernel(const std::string &target) {
  auto arch = target::findArch(target);
  if (!arch)
    return arch.takeError();
  Subject subject = scalarsSubject(target);
  if (auto known = impl->runtimeKernels.find(subject.key))
    return known;
  auto built = impl->builder.build(subject, [&]() -> Result<jit::ProgramRecord> {
    auto lowered = lowerScalars(target);
    if (!lowered)
      return lowered.takeError();
    lowered->record.target = target; // a virtual one shares its text with the arch
    return impl->builder.compileKernels(subject, *lowered);
  });
  if (!built)
    return built.takeError();
  return impl->runtimeKernels.add(subject.key,
                                  std::make_shared<const CompiledKernels>(std::move(*built)));
}

Result<std::string> Compiler::text(const Request &request, TextStage stage) {
  if (auto fits = checkStage(request.target, stage); !fits)
    return fits.takeError();
  return onLargeStack([&] { return impl->text(request, stage); });
}

Result<std::string> Compiler::Impl::text(const Request &request, TextStage stage) {
  StandardFloatMode mode;
  auto resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  switch (stage) {
  case TextStage::SEMANTIC:
    return semanticText(*resolved, /*afterFma=*/false);
  case TextStage::PHASES:
    return phasesText(*resolved);
  case TextStage::CUDA: {
    auto lowered = lower(*resolved);
    if (!lowered)
      return lowered.takeError();
    std::string out;
    for (const std::string &source : lowered->sources)
      out += source;
    return out;
  }
  case TextStage::PTX:
    if (builder.cache.isStrict())
      return Error{.code = Code::STRICT_MISS,
                   .text = "strict mode: expected a stage that needs no compile, got ptx for " +
                           describe(*resolved),
                   .remedy = "ask for the stage cuda, or leave strict mode"};
    return ptxText(*resolved);
  case TextStage::LLVM:
    return llvmText(*resolved);
  }
  return Error{Code::INTERNAL, "expected a stage, got another number"};
}

jit::Cache &Compiler::cache() { return impl->builder.cache; }
const jit::Settings &Compiler::settings() const { return impl->builder.options.settings; }
Result<std::shared_ptr<const CpuLibrary>> Compiler::cpuLibrary() { return impl->builder.openCpu(); }
Result<std::shared_ptr<const jit::KernelCompiler>> Compiler::kernelCompiler() {
  return impl->builder.openNvrtc();
}

} // namespace fw
