// Modules of tests/emit/inputs as requests would compile them.
#pragma once

#include "compiler/emit/CudaPrinter.h"
#include "compiler/passes/Context.h"
#include "compiler/passes/Pipeline.h"

#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>

namespace fw::test {

/// The contents of a file below tests/emit; fails the test where there is none.
std::string readFile(const std::string &name);

/// A module with the context that owns it.
struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  fuse::ProgramOp program() { return *module->getOps<fuse::ProgramOp>().begin(); }
};

/// `text` lowered to `stage`; fails the test where that is refused.
Compiled compile(const std::string &text, passes::Stage stage,
                 const passes::PipelineOptions &options);

/// The one kernel of `text` in CUDA.
std::string print(const std::string &text, const passes::PipelineOptions &options);

} // namespace fw::test
