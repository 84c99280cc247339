#include "compiler/jit/Kernels.h"

#include "compiler/jit/Hash.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <sched.h>
#include <thread>

namespace fw::jit {
namespace {

std::vector<std::string> allFlags(const KernelCompiler &compiler, const KernelRequest &request) {
  std::vector<std::string> flags = compiler.flags();
  flags.insert(flags.end(), request.extraFlags.begin(), request.extraFlags.end());
  return flags;
}

void fillResources(LaunchRecord &launch, const std::vector<KernelResources> &kernels) {
  for (const KernelResources &kernel : kernels)
    if (kernel.symbol == launch.symbol) {
      launch.registers = kernel.registers;
      launch.spillBytes = kernel.spillBytes;
      launch.stackBytes = kernel.stackBytes;
      launch.sharedBytes = std::max<int64_t>(launch.sharedBytes, kernel.sharedBytes);
    }
}

Entry entryOf(const KernelRequest &request, CompiledKernel compiled) {
  LaunchRecord launch = request.launch;
  fillResources(launch, compiled.resources);
  Entry entry;
  entry.add(Section::Record, encode(launch));
  entry.add(Section::Cubin, std::move(compiled.cubin));
  entry.add(Section::Ptx, std::move(compiled.ptx));
  entry.add(Section::Source, request.source);
  entry.add(Section::Log, std::move(compiled.log));
  return entry;
}

Result<std::shared_ptr<KernelArtefact>> artefactOf(const Entry &entry, const std::string &key) {
  auto section = [&](Section name) {
    const std::string *bytes = entry.find(name);
    return bytes ? *bytes : std::string();
  };
  Result<LaunchRecord> launch = decodeLaunchRecord(section(Section::Record));
  if (!launch)
    return launch.takeError();
  auto artefact = std::make_shared<KernelArtefact>();
  artefact->key = key;
  artefact->launch = std::move(*launch);
  artefact->cubin = section(Section::Cubin);
  artefact->ptx = section(Section::Ptx);
  artefact->source = section(Section::Source);
  artefact->log = section(Section::Log);
  return artefact;
}

/// CPUs that a cgroup's quota amounts to, or `all`.
unsigned cgroupThreads(unsigned all) {
  double quota = 0, period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max");
      file >> quota >> period && period > 0) // "max 100000" fails here
    return std::clamp(unsigned(std::ceil(quota / period)), 1u, all);
  return all;
}

} // namespace

std::string keyOf(const KernelCompiler &compiler, const KernelRequest &request) {
  return kernelKey(request.source, allFlags(compiler, request), request.arch, compiler.version());
}

Result<std::shared_ptr<const KernelArtefact>>
compileKernel(Cache &cache, const KernelCompiler &compiler, const KernelRequest &request) {
  std::string key = keyOf(compiler, request);
  double milliseconds = 0;
  Result<EntryPtr> entry =
      cache.get(EntryKind::Kernel, key, request.description, [&]() -> Result<Entry> {
        Result<CompiledKernel> compiled =
            compiler.compile(request.source, request.launch.symbol + ".cu", request.arch,
                             allFlags(compiler, request));
        if (!compiled)
          return compiled.takeError();
        milliseconds = compiled->milliseconds;
        return entryOf(request, std::move(*compiled));
      });
  if (!entry)
    return entry.takeError();
  Result<std::shared_ptr<KernelArtefact>> artefact = artefactOf(**entry, key);
  if (!artefact)
    return artefact.takeError();
  (*artefact)->milliseconds = milliseconds;
  return std::shared_ptr<const KernelArtefact>(std::move(*artefact));
}

Result<std::shared_ptr<const KernelArtefact>> findKernel(Cache &cache, const std::string &key) {
  EntryPtr entry = cache.find(EntryKind::Kernel, key);
  if (!entry)
    return std::shared_ptr<const KernelArtefact>();
  Result<std::shared_ptr<KernelArtefact>> artefact = artefactOf(*entry, key);
  if (!artefact)
    return artefact.takeError();
  return std::shared_ptr<const KernelArtefact>(std::move(*artefact));
}

void runJobs(size_t count, unsigned threads, const std::function<void(size_t)> &job,
             const std::function<void(size_t)> &finished) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      job(i);
      if (finished) {
        std::lock_guard guard(mutex);
        finished(i);
      }
    }
  };
  std::vector<std::thread> workers;
  size_t wanted = std::min<size_t>(threads ? threads : usableThreads(), count);
  for (size_t i = 1; i < wanted; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
}

unsigned usableThreads() {
  cpu_set_t set;
  unsigned all = std::max(1u, std::thread::hardware_concurrency());
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    all = std::max(1, CPU_COUNT(&set));
  return cgroupThreads(all);
}

} // namespace fw::jit
