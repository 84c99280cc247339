// From lowered text to loaded kernels, through the cache: NVRTC and the CPU library behind one
// door.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/Stages.h"
#include "compiler/jit/KernelCompiler.h"

#include <functional>
#include <mutex>

namespace fw {

/// Names what is compiled, for the cache, for strict mode and for logs.
struct Subject {
  std::string target;
  std::string key;         ///< of the program record
  std::string description; ///< "adamw for sm_90: p=f32 g=bf16 m=f32 v=f32 +copy"
  std::string facts;       ///< what the key was made of, one a line
};

/// Opens something once; a failure is tried again, since the remedy may be at hand.
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

class Builder {
public:
  explicit Builder(CompilerOptions given);

  Result<std::shared_ptr<const CpuLibrary>> openCpu();
  Result<std::shared_ptr<const jit::KernelCompiler>> openNvrtc();
  /// Of the CPU that code is made for.
  Result<std::string> cpuFeatures(const CpuLibrary &library, bool runsHere) const;

  /// The record with the key of every kernel, all of which are in the cache afterwards.
  Result<jit::ProgramRecord> compileKernels(const Subject &subject, const Lowered &lowered);

  /// The keys of those kernels. Compiles nothing.
  Result<std::vector<std::string>> kernelKeys(const Subject &subject, const Lowered &lowered);

  /// Makes the record of a subject by compileKernels.
  using Producer = std::function<Result<jit::ProgramRecord>()>;
  /// What the cache has of `subject`, or what `produce` makes.
  Result<CompiledKernels> build(const Subject &subject, const Producer &produce);

  const CompilerOptions options;
  jit::Cache cache;

private:
  Result<jit::KernelRequest> cudaRequest(const Subject &subject, const jit::LaunchRecord &launch,
                                         const std::string &source);
  Result<jit::ObjectRequest> cpuRequest(const Subject &subject, const jit::LaunchRecord &launch,
                                        const std::string &phases);
  Result<jit::ArtefactPtr> compileCuda(const Subject &subject, const jit::LaunchRecord &launch,
                                       const std::string &source);
  Result<jit::ArtefactPtr> compileCpu(const Subject &subject, const jit::LaunchRecord &launch,
                                      const std::string &phases);
  Result<ProgramKernel> loadKernel(const jit::KernelRecord &record, bool forCpu);
  Result<CompiledKernels> load(const Subject &subject, jit::ProgramRecord record);

  Lazy<CpuLibrary> cpuLibrary;
  Lazy<jit::KernelCompiler> nvrtc;
};

} // namespace fw
