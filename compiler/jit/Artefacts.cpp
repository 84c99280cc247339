#include "compiler/jit/Artefacts.h"

#include "compiler/jit/Hash.h"
#include "compiler/target/Target.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace fw::jit {
namespace {

void fillResources(LaunchRecord &launch, const std::vector<KernelResources> &kernels) {
  for (const KernelResources &kernel : kernels)
    if (kernel.symbol == launch.symbol) {
      launch.registers = kernel.registers;
      launch.spillBytes = kernel.spillBytes;
      launch.stackBytes = kernel.stackBytes;
      launch.staticSharedBytes = kernel.sharedBytes;
    }
}

Entry entryOf(const KernelRequest &request, CompiledKernel compiled) {
  LaunchRecord launch = request.launch;
  fillResources(launch, compiled.resources);
  Entry entry;
  entry.add(Section::Record, encode(launch));
  if (compiled.cubin.empty())
    entry.add(Section::Ptx, std::move(compiled.ptx));
  else
    entry.add(Section::Cubin, std::move(compiled.cubin));
  entry.add(Section::Source, request.source);
  entry.add(Section::Log, std::move(compiled.log));
  return entry;
}

/// What the assembler said stands in the entry; the rest is how this version of the compiler
/// launches it.
void takeResources(LaunchRecord &launch, const LaunchRecord &stored) {
  launch.registers = stored.registers;
  launch.spillBytes = stored.spillBytes;
  launch.stackBytes = stored.stackBytes;
  launch.staticSharedBytes = stored.staticSharedBytes;
}

/// Lives as long as the entry.
std::string_view sectionOf(const Entry &entry, Section name) {
  const std::string *bytes = entry.find(name);
  return bytes ? std::string_view(*bytes) : std::string_view();
}

/// `wanted` is the request's own launch record, where there is a request.
Result<ArtefactPtr> artefactOf(const EntryPtr &entry, const std::string &key, double milliseconds,
                               const LaunchRecord *wanted = nullptr) {
  Result<LaunchRecord> stored = decodeLaunchRecord(sectionOf(*entry, Section::Record));
  if (!stored)
    return stored.takeError();
  LaunchRecord launch = wanted ? *wanted : *stored;
  takeResources(launch, *stored);
  bool isObject = entry->find(Section::Object);
  return std::make_shared<const Artefact>(Artefact{
      .key = key,
      .launch = std::move(launch),
      .entry = entry,
      .code = sectionOf(*entry, isObject ? Section::Object : Section::Cubin),
      .ptx = sectionOf(*entry, Section::Ptx),
      .source = sectionOf(*entry, Section::Source),
      .log = sectionOf(*entry, Section::Log),
      .milliseconds = milliseconds,
  });
}

bool hasKernels(Cache &cache, const ProgramRecord &record) {
  const EntryKind kind = target::isCpuTarget(record.target) ? EntryKind::Object : EntryKind::Kernel;
  return std::ranges::all_of(record.kernels, [&](const KernelRecord &kernel) {
    return cache.find(kind, kernel.key) != nullptr;
  });
}

} // namespace

std::string keyOf(const KernelCompiler &compiler, const KernelRequest &request) {
  return kernelKey(request.source, compiler.flags(), request.arch, compiler.version());
}

Result<ArtefactPtr> compileKernel(Cache &cache, const KernelCompiler &compiler,
                                  const KernelRequest &request) {
  std::string key = keyOf(compiler, request);
  double milliseconds = 0;
  auto produce = [&]() -> Result<Entry> {
    std::string name = request.launch.symbol + ".cu";
    Result<CompiledKernel> compiled =
        compiler.compile(request.source, name, request.arch, compiler.flags());
    if (!compiled)
      return compiled.takeError();
    milliseconds = compiled->milliseconds;
    return entryOf(request, std::move(*compiled));
  };
  Result<EntryPtr> entry = cache.get({EntryKind::Kernel, key, request.description}, produce);
  if (!entry)
    return entry.takeError();
  return artefactOf(*entry, key, milliseconds, &request.launch);
}

std::string keyOf(const ObjectRequest &request) {
  return objectKey(request.phaseText, request.cpuFeatures, request.backendVersion);
}

Result<ArtefactPtr> compileObject(Cache &cache, const ObjectRequest &request,
                                  const std::function<Result<std::string>()> &make) {
  std::string key = keyOf(request);
  double milliseconds = 0;
  auto produce = [&]() -> Result<Entry> {
    auto begin = std::chrono::steady_clock::now();
    Result<std::string> object = make();
    if (!object)
      return object.takeError();
    milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    Entry entry;
    entry.add(Section::Record, encode(request.launch));
    entry.add(Section::Object, std::move(*object));
    entry.add(Section::Source, request.phaseText);
    return entry;
  };
  Result<EntryPtr> entry = cache.get({EntryKind::Object, key, request.description}, produce);
  if (!entry)
    return entry.takeError();
  return artefactOf(*entry, key, milliseconds, &request.launch);
}

Result<ArtefactPtr> findArtefact(Cache &cache, EntryKind kind, const std::string &key) {
  EntryPtr entry = cache.find(kind, key);
  if (!entry)
    return ArtefactPtr();
  return artefactOf(entry, key, 0);
}

Result<ProgramRecord> compileProgram(Cache &cache, const ProgramRequest &request,
                                     const std::function<Result<ProgramRecord>()> &make) {
  auto produce = [&]() -> Result<Entry> {
    Result<ProgramRecord> record = make();
    if (!record)
      return record.takeError();
    Entry entry;
    entry.add(Section::Record, encode(*record));
    entry.add(Section::Facts, request.facts);
    return entry;
  };
  std::optional<ProgramRecord> found;
  auto isWhole = [&](const Entry &entry) {
    Result<ProgramRecord> record = decodeProgramRecord(sectionOf(entry, Section::Record));
    if (!record || !hasKernels(cache, *record))
      return false;
    found = std::move(*record);
    return true;
  };
  Result<EntryPtr> entry =
      cache.get({EntryKind::Program, request.key, request.description}, produce, isWhole);
  if (!entry)
    return entry.takeError();
  if (found)
    return std::move(*found);
  return decodeProgramRecord(sectionOf(**entry, Section::Record));
}

} // namespace fw::jit
