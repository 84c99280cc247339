// The compiler as the runtime, the CLI and tests see it: request in, program out. No GPU, no tensor.
#pragma once

#include "compiler/Request.h"
#include "compiler/jit/Cache.h"
#include "compiler/jit/Knobs.h"
#include "compiler/jit/ProgramRecord.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw {

enum class Stage { SEMANTIC, PHASES, CUDA, PTX, LLVM };
/// The stage called `name`, or an error that lists them.
Result<Stage> parseStage(std::string_view name);

/// The function of a CPU kernel (compiler/cpu/CpuLibrary.h has the contract).
using CpuFunction = void (*)(const void *const *pointers, int64_t begin, int64_t end,
                             const void *scalars);

/// One compiled kernel.
struct CompiledKernel {
  std::shared_ptr<const jit::Artefact> image; ///< cubin, or the CPU object
  CpuFunction function = nullptr;             ///< on the CPU
  std::shared_ptr<void> keepAlive;            ///< owner of `function`
};

enum class Origin { MEMORY, DISK, COMPILED };

/// What a request compiles to. Immutable; used by any number of threads.
struct Program {
  ResolvedRequest request;
  jit::ProgramRecord record;
  std::vector<CompiledKernel> kernels; ///< one per record.kernels
  Origin origin = Origin::COMPILED;
  double milliseconds = 0; ///< time that compile() took the first time
};

struct CompilerOptions {
  jit::Knobs knobs;                                           ///< settings, the environment already read
  std::function<void(int level, std::string_view text)> log = {}; ///< level: 0 debug .. 3 error
};

/// Free-threaded. Compiles each request once per process and asks the cache for everything else.
class Compiler {
public:
  explicit Compiler(CompilerOptions options);
  ~Compiler();

  Result<std::shared_ptr<const Program>> compile(const Request &request);
  /// Text of a stage of the request's way down; never cached.
  Result<std::string> text(const Request &request, Stage stage);

  jit::Cache &cache();
  const jit::Knobs &knobs() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Semantic-level module text after specialise and features, for the evaluator ("bounds"), or after
/// fma as well ("bits").
Result<std::string> semanticText(const ResolvedRequest &request, bool afterFma);

} // namespace fw
