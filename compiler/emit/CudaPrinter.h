// A scheduled kernel as CUDA text: what NVRTC compiles and the emulator runs.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/support/Error.h"
#include "compiler/target/Target.h"

#include <string>
#include <vector>

namespace fw::emit {

/// The self-contained text of every kernel of `program` for `arch`, in order. Decides nothing: each
/// kernel must have a schedule.
Result<std::vector<std::string>> printCuda(fuse::ProgramOp program, const target::Arch &arch);

} // namespace fw::emit
