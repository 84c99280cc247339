// A scheduled kernel as CUDA text: what NVRTC compiles and the emulator runs.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/support/Error.h"
#include "compiler/target/Target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fw::emit {

/// The text of one kernel and what a launch must know about it.
struct EmittedKernel {
  std::string source; ///< self-contained
  std::string symbol;
  std::string pattern;
  std::string skeleton;
  std::string real; ///< "f32" or "f64": type of the scalar table
  int64_t threads = 0;
  int64_t vec = 0;
  int64_t inflight = 0;
  int64_t chunk = 0;
  unsigned slots = 0;                ///< columns of the scalar table
  std::vector<std::string> operands; ///< columns of the pointer table
};

/// Prints every kernel of `program` for `arch`. Decides nothing: each kernel must have a schedule.
Result<std::vector<EmittedKernel>> printCuda(fuse::ProgramOp program, const target::Arch &arch);

} // namespace fw::emit
