// The compiler as the runtime, the CLI and tests see it: request in, program out. No GPU, no
// tensor.
#pragma once

#include "compiler/CpuLoader.h"
#include "compiler/Request.h"
#include "compiler/jit/Artefacts.h"
#include "compiler/jit/Knobs.h"
#include "compiler/jit/ProgramRecord.h"
#include "compiler/jit/Report.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw {

/// What Compiler::text gives.
enum class TextStage { SEMANTIC, PHASES, CUDA, PTX, LLVM };
/// The stage called `name`, or an error that lists them.
Result<TextStage> parseStage(std::string_view name);

/// One compiled kernel.
struct ProgramKernel {
  jit::ArtefactPtr image;             ///< cubin, or the CPU's object code
  fw_cpu_function function = nullptr; ///< on the CPU
  std::shared_ptr<void> code = {};    ///< keeps `function` callable
};

enum class Origin { MEMORY, DISK, COMPILED };

/// Kernels in memory, with the record that says how they are launched.
struct CompiledKernels {
  jit::ProgramRecord record;
  std::vector<ProgramKernel> kernels; ///< one per record.kernels
  Origin origin = Origin::COMPILED;
  std::string key;         ///< of the program record
  double milliseconds = 0; ///< that it took the first time
};

/// What a request compiles to. Immutable; used by any number of threads.
struct Program : CompiledKernels {
  ResolvedRequest request;
};

/// Where a request stands in the cache on disk.
struct Standing {
  struct Kernel {
    std::string symbol;
    std::string key;
    bool isStored = false;
  };
  std::string key;   ///< of the program record
  std::string facts; ///< what the key was made of, one a line
  bool isIndexed = false;
  /// Of the record, or where there is none, what the request would be compiled to.
  std::vector<Kernel> kernels;
  std::optional<Error> unknown; ///< why the kernels cannot be named
};

struct CompilerOptions {
  jit::Settings settings; ///< the environment and the caller's options already read
  jit::LogSink log = jit::standardErrorSink();
  bool runsHere = true; ///< false: CPU code may be for other machines than this one
};

/// Free-threaded. Compiles each request once per process and asks the cache for everything else.
class Compiler {
public:
  explicit Compiler(CompilerOptions options);
  ~Compiler();

  Result<std::shared_ptr<const Program>> compile(const Request &request);
  /// The one kernel that computes scalar programs on a GPU, for all ops: see
  /// templates/vocab/scalars_launch.h.
  Result<std::shared_ptr<const CompiledKernels>> scalarsKernel(const std::string &target);
  /// The target of requests for a GPU of this compute capability: its own arch ("sm_86"), or for a
  /// GPU newer than NVRTC the newest virtual one ("compute_90"), told once in the log. Without an
  /// NVRTC, and in strict mode, its own arch. Opens NVRTC: ask once per device.
  Result<std::string> targetOf(int major, int minor);
  /// Compiles nothing, and counts as no use of what it finds.
  Result<Standing> standing(const Request &request);
  /// Text of a stage of the request's way down; never cached.
  Result<std::string> text(const Request &request, TextStage stage);

  jit::Cache &cache();
  /// Opened by the first call that needs it; an error is found again by every call.
  Result<std::shared_ptr<const CpuLibrary>> cpuLibrary();
  Result<std::shared_ptr<const jit::KernelCompiler>> kernelCompiler();
  const jit::Settings &settings() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace fw
