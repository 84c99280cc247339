// From CUDA source to a cached kernel, and the jobs of a precompile.
#pragma once

#include "compiler/jit/Cache.h"
#include "compiler/jit/KernelCompiler.h"
#include "compiler/jit/ProgramRecord.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fw::jit {

/// A kernel ready to be loaded by a driver.
struct KernelArtefact {
  std::string key;
  LaunchRecord launch; ///< with what the assembler said
  std::string cubin;   ///< empty when only PTX fits the device
  std::string ptx;
  std::string source;
  std::string log;
  double milliseconds = 0; ///< of the compile in this process; 0 for a hit
};

struct KernelRequest {
  std::string source;
  std::string arch;        ///< value of --gpu-architecture: CompileTarget::option
  LaunchRecord launch;     ///< registers, spills and stack are filled in
  std::string description; ///< for strict mode: "adamw for sm_90, param=f32 grad=bf16"
  std::vector<std::string> extraFlags = {};
};

/// The key that compileKernel will use.
std::string keyOf(const KernelCompiler &compiler, const KernelRequest &request);

/// Through the cache; the errors are those of the compiler and of strict mode.
Result<std::shared_ptr<const KernelArtefact>>
compileKernel(Cache &cache, const KernelCompiler &compiler, const KernelRequest &request);

/// The kernel of a program record, without a compiler: null when no layer has it.
Result<std::shared_ptr<const KernelArtefact>> findKernel(Cache &cache, const std::string &key);

/// Runs job(0) .. job(count - 1), each once, on `threads` threads (0: what affinity and cgroup
/// allow). `finished` is called after each job, one call at a time.
void runJobs(size_t count, unsigned threads, const std::function<void(size_t)> &job,
             const std::function<void(size_t)> &finished = {});

/// CPUs that this process may use: affinity and the cgroup's quota, at least 1.
unsigned usableThreads();

} // namespace fw::jit
