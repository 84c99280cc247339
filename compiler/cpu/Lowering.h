// Phase level -> loops on vectors -> LLVM dialect.
#pragma once

#include "compiler/cpu/Features.h"
#include "compiler/cpu/pch/cpu.h"

namespace fw::cpu {

struct LoweringOptions {
  Features features;
  int64_t unroll = 2; ///< vectors in flight per iteration of the main loop
};

/// Replaces each fuse.program of a module by one function per kernel:
///   void SYMBOL(pointers: !llvm.ptr, begin: i64, end: i64, scalars: !llvm.ptr, results: !llvm.ptr)
/// with a loop over `unroll` vectors (of a pass that reduces: see Accumulators.h) and a tail over
/// single elements, both of the same text.
std::unique_ptr<mlir::Pass> createLowerKernels(LoweringOptions options);

/// Wraps each function so that its body runs rounding to nearest even, with denormals, whatever
/// mode the caller is in, and gives the caller's mode back.
std::unique_ptr<mlir::Pass> createGuardMode(llvm::StringRef arch);

/// Everything that these two made -> LLVM dialect, in one conversion.
std::unique_ptr<mlir::Pass> createLowerToLlvm();

} // namespace fw::cpu
