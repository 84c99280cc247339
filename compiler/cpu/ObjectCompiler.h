// Text of a phase-level module -> relocatable object for a set of CPU features.
#pragma once

#include "compiler/cpu/Features.h"

#include <string>

namespace fw::cpu {

/// What a compilation hands back.
enum class Output {
  Vectors,  ///< loops on vectors, MLIR text
  LlvmIr,   ///< LLVM IR text
  Assembly, ///< assembly text
  Object,   ///< relocatable ELF object
};

struct CompileOptions {
  Features features;
  int64_t unroll = 2;
  Output output = Output::Object;
};

/// Compiles every kernel of `phases` (a fuse.program, scheduled or not). Pure: equal arguments give
/// equal bytes. Safe to call from several threads.
Result<std::string> compile(llvm::StringRef phases, const CompileOptions &options);

} // namespace fw::cpu
