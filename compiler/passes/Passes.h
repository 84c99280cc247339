// The passes (Passes.td). Their order stands in Pipeline.cpp.
#pragma once

#include "compiler/dialect/Fuse.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fw::passes {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace fw::passes
