// fw-opt: runs passes and pipelines on a module in text, and re-reads any stage.
#include "compiler/dialect/Fuse.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<fw::fuse::FuseDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  fw::passes::registerFwPasses();
  fw::passes::registerPipelines();
  mlir::registerCSEPass();
  return failed(mlir::MlirOptMain(argc, argv, "fusewright opt tool\n", registry));
}
