// The order of the passes, and the only place where it is written.
#pragma once

#include "compiler/support/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace fw::passes {

/// Plain values of a request.
struct PipelineOptions {
  std::string dtypes; ///< "p=f32,g=bf16,p.copy=f16": of the op's and of added operands
  std::vector<std::string> features; ///< names of features.def, in any order
  std::string arch;                  ///< a name of archs.def; CUDA only
  std::string schedule;              ///< "threads=256,vec=4"; CUDA only
  std::string facts;                 ///< "columns=4096,aligned=16"; CUDA only
};

/// How far a module is lowered. CPU and CUDA share everything up to, and including, Phases.
enum class Stage {
  Semantic,   ///< dtypes bound, features applied
  Contracted, ///< the semantic level after `fma`: what the bit-for-bit reference interprets
  Phases,     ///< scalar program and kernels
  Cuda,       ///< kernels scheduled for an arch
};

/// Appends the passes that turn what the language lowers to into `stage`. USAGE for a feature
/// that does not exist.
Result<void> buildPipeline(mlir::OpPassManager &manager, Stage stage,
                           const PipelineOptions &options);

/// Runs them on `module`. What a pass refuses of the request is the error that it refuses with; any
/// other diagnostic is a fault of the compiler, INTERNAL: requests and op texts are checked before.
Result<void> runPipeline(mlir::ModuleOp module, Stage stage, const PipelineOptions &options);

/// Pipelines `fuse-to-semantic`, `fuse-to-contracted`, `fuse-to-phases` and `fuse-to-cuda` for the
/// opt tool, each with the options of PipelineOptions.
void registerPipelines();

} // namespace fw::passes
