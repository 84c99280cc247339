// FUSEWRIGHT_DUMP: every stage of every compile as a file.
#pragma once

#include "compiler/Stages.h"
#include "compiler/jit/Knobs.h"

namespace fw {

/// Writes <symbol>.<target>.{request,phases.mlir,cu} into the folder of the setting `dump`; nothing
/// without one. A folder that cannot be written is no reason to fail a compile.
void dump(const jit::Settings &settings, const ResolvedRequest &request, const Lowered &lowered);

} // namespace fw
