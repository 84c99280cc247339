// The MLIR context that every entry of the compiler uses.
#pragma once

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace fw::passes {

/// A context with the dialects of both levels loaded and without threads: a module has one op, and
/// starting a pool costs more than compiling it.
std::unique_ptr<mlir::MLIRContext> createContext();

} // namespace fw::passes
