#include "compiler/passes/Context.h"

#include "compiler/dialect/Fuse.h"

namespace fw::passes {

std::unique_ptr<mlir::MLIRContext> createContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<fuse::FuseDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  return context;
}

} // namespace fw::passes
