// The three kinds of cached things as users see them: programs, CUDA kernels, CPU objects.
#pragma once

#include "compiler/jit/Cache.h"
#include "compiler/jit/KernelCompiler.h"
#include "compiler/jit/ProgramRecord.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fw::jit {

/// Machine code with its launch record: a CUDA kernel, or an object of the CPU backend. Immutable.
struct Artefact {
  std::string key;
  LaunchRecord launch;     ///< with what the assembler said
  EntryPtr entry;          ///< what the cache holds; the texts below are views of it
  std::string_view code;   ///< cubin or ELF object; empty when only PTX fits the device
  std::string_view ptx;    ///< only where there is no code
  std::string_view source; ///< CUDA or phase-level text
  std::string_view log;
  double milliseconds = 0; ///< of the compile, where this call made it; 0 for a hit

  /// What a loader is given. A zero follows it in memory, as loaders of PTX want it.
  std::string_view image() const { return code.empty() ? ptx : code; }
};
using ArtefactPtr = std::shared_ptr<const Artefact>;

struct KernelRequest {
  std::string source;
  std::string arch;        ///< value of --gpu-architecture: target::gpuArchitecture
  LaunchRecord launch;     ///< registers, spills and stack are filled in
  std::string description; ///< for strict mode: "adamw for sm_90, param=f32 grad=bf16"
};

/// The key that compileKernel will use.
std::string keyOf(const KernelCompiler &compiler, const KernelRequest &request);

/// Through the cache; the errors are those of the compiler and of strict mode.
Result<ArtefactPtr> compileKernel(Cache &cache, const KernelCompiler &compiler,
                                  const KernelRequest &request);

struct ObjectRequest {
  std::string phaseText;
  std::string cpuFeatures; ///< part of the key: an object never meets a CPU that lacks what it uses
  std::string backendVersion;
  LaunchRecord launch;
  std::string description;
};

std::string keyOf(const ObjectRequest &request);

/// Through the cache; `make` returns the bytes of the object.
Result<ArtefactPtr> compileObject(Cache &cache, const ObjectRequest &request,
                                  const std::function<Result<std::string>()> &make);

/// What memory or disk has under a key of a program record; null when no layer has it.
Result<ArtefactPtr> findArtefact(Cache &cache, EntryKind kind, const std::string &key);

struct ProgramRequest {
  std::string key;
  std::string description; ///< in words, as in KernelRequest
  std::string facts;       ///< what the key was made of, one a line: kept for `cache explain`
};

/// The record from memory or disk, or from `make`, which runs the compiler's passes and keeps the
/// kernels. One that cannot be read, or whose kernels no layer has any more, is made anew and
/// replaced.
Result<ProgramRecord> compileProgram(Cache &cache, const ProgramRequest &request,
                                     const std::function<Result<ProgramRecord>()> &make);

} // namespace fw::jit
