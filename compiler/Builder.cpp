#include "compiler/Builder.h"

#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"

#include <chrono>

namespace fw {
namespace {

using Clock = std::chrono::steady_clock;

jit::CacheOptions cacheOptionsFor(const CompilerOptions &options) {
  jit::CacheOptions out = jit::cacheOptions(options.settings);
  out.reporter = jit::Reporter(options.log);
  return out;
}

/// A kernel that only a compiler could give.
Error asStrictMiss(const Subject &subject, const Error &cause) {
  return Error{.code = Code::STRICT_MISS,
               .text =
                   "strict mode: expected a cached program, got none for " + subject.description,
               .remedy = "run `fusewright precompile` with the same settings, or leave strict mode",
               .log = render(cause) + "\n" + subject.facts};
}

} // namespace

Builder::Builder(CompilerOptions given)
    : options(std::move(given)), cache(cacheOptionsFor(options)) {}

Result<std::shared_ptr<const CpuLibrary>> Builder::openCpu() {
  return cpuLibrary.get([&] { return CpuLibrary::open(options.settings); });
}

Result<std::shared_ptr<const jit::KernelCompiler>> Builder::openNvrtc() {
  return nvrtc.get([&]() -> Result<std::shared_ptr<const jit::KernelCompiler>> {
    auto opened = jit::Nvrtc::open(options.settings);
    if (!opened)
      return opened.takeError();
    return std::shared_ptr<const jit::KernelCompiler>(std::move(*opened));
  });
}

Result<std::string> Builder::cpuFeatures(const CpuLibrary &library, bool runsHere) const {
  return library.readFeatures(options.settings.text(jit::Knob::cpu_features), runsHere);
}

// --- From source to kernels ---------------------------------------------------------------------

Result<jit::KernelRequest> Builder::cudaRequest(const Subject &subject,
                                                const jit::LaunchRecord &launch,
                                                const std::string &source) {
  auto compiler = openNvrtc();
  if (!compiler) {
    Error missing = compiler.takeError();
    if (cache.isStrict())
      missing.code = Code::STRICT_MISS; // without its version no kernel can be found, nor made
    return missing;
  }
  auto arch = target::gpuArchitecture(subject.target, (*compiler)->supportedArchs());
  if (!arch)
    return arch.takeError();
  return jit::KernelRequest{.source = source,
                            .arch = std::move(*arch),
                            .launch = launch,
                            .description = subject.description};
}

Result<jit::ArtefactPtr> Builder::compileCuda(const Subject &subject,
                                              const jit::LaunchRecord &launch,
                                              const std::string &source) {
  auto request = cudaRequest(subject, launch, source);
  if (!request)
    return request.takeError();
  auto compiler = openNvrtc();
  if (!compiler)
    return compiler.takeError();
  return jit::compileKernel(cache, **compiler, *request);
}

Result<jit::ObjectRequest> Builder::cpuRequest(const Subject &subject,
                                               const jit::LaunchRecord &launch,
                                               const std::string &phases) {
  auto library = openCpu();
  if (!library)
    return library.takeError();
  auto features = cpuFeatures(**library, options.runsHere);
  if (!features)
    return features.takeError();
  return jit::ObjectRequest{.phaseText = phases,
                            .cpuFeatures = std::move(*features),
                            .backendVersion = (*library)->version(),
                            .launch = launch,
                            .description = subject.description};
}

Result<jit::ArtefactPtr> Builder::compileCpu(const Subject &subject,
                                             const jit::LaunchRecord &launch,
                                             const std::string &phases) {
  auto request = cpuRequest(subject, launch, phases);
  if (!request)
    return request.takeError();
  auto library = openCpu();
  if (!library)
    return library.takeError();
  return jit::compileObject(
      cache, *request, [&] { return (*library)->compile(phases, request->cpuFeatures, "object"); });
}

Result<std::vector<std::string>> Builder::kernelKeys(const Subject &subject,
                                                     const Lowered &lowered) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < lowered.record.kernels.size(); ++i) {
    const jit::LaunchRecord &launch = lowered.record.kernels[i].launch;
    if (lowered.sources.empty()) {
      auto request = cpuRequest(subject, launch, lowered.phases);
      if (!request)
        return request.takeError();
      keys.push_back(jit::keyOf(*request));
      continue;
    }
    auto request = cudaRequest(subject, launch, lowered.sources[i]);
    if (!request)
      return request.takeError();
    keys.push_back(jit::keyOf(**openNvrtc(), *request));
  }
  return keys;
}

Result<jit::ProgramRecord> Builder::compileKernels(const Subject &subject, const Lowered &lowered) {
  jit::ProgramRecord record = lowered.record;
  for (size_t i = 0; i < record.kernels.size(); ++i) {
    const jit::LaunchRecord &launch = record.kernels[i].launch;
    auto kernel = lowered.sources.empty() ? compileCpu(subject, launch, lowered.phases)
                                          : compileCuda(subject, launch, lowered.sources[i]);
    if (!kernel)
      return kernel.error().code == Code::STRICT_MISS ? asStrictMiss(subject, kernel.error())
                                                      : kernel.takeError();
    record.kernels[i] = {(*kernel)->launch, (*kernel)->key};
  }
  return record;
}

// --- From record to program ---------------------------------------------------------------------

Result<ProgramKernel> Builder::loadKernel(const jit::KernelRecord &record, bool forCpu) {
  auto artefact = jit::findArtefact(cache, forCpu ? jit::EntryKind::Object : jit::EntryKind::Kernel,
                                    record.key);
  if (!artefact)
    return artefact.takeError();
  ProgramKernel kernel{.image = *artefact};
  if (!kernel.image)
    return Error{Code::INTERNAL,
                 "expected kernel " + record.key + " in the cache, which has its record, got none"};
  if (!forCpu)
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

Result<CompiledKernels> Builder::load(const Subject &subject, jit::ProgramRecord record) {
  CompiledKernels program;
  for (const jit::KernelRecord &kernel : record.kernels) {
    auto loaded = loadKernel(kernel, target::isCpuTarget(subject.target));
    if (!loaded)
      return loaded.takeError();
    program.kernels.push_back(std::move(*loaded));
  }
  program.record = std::move(record);
  program.key = subject.key;
  return program;
}

Result<CompiledKernels> Builder::build(const Subject &subject, const Producer &produce) {
  auto start = Clock::now();
  bool made = false;
  auto record = jit::compileProgram(cache, {subject.key, subject.description, subject.facts}, [&] {
    made = true;
    return produce();
  });
  if (!record)
    return record.takeError();
  auto program = load(subject, std::move(*record));
  if (!program)
    return program.takeError();
  program->origin = made ? Origin::COMPILED : Origin::DISK;
  program->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return program;
}

} // namespace fw
