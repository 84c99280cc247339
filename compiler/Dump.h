// FUSEWRIGHT_DUMP: every stage of every compile as a file.
#pragma once

#include "compiler/Stages.h"
#include "compiler/jit/Report.h"

#include <functional>

namespace fw {

/// A program that was just lowered with its stages kept.
struct DumpInput {
  const std::string &folder;
  const std::string &key; ///< of the program
  const Lowered &lowered;
  const char *machineStage;                         ///< "ll" or "ptx"
  std::function<Result<std::string>()> machineText; ///< of the stage after the last one lowered
};

/// Writes <symbol>-<12 digits of the key>.<stage> for request, semantic.mlir, contracted.mlir,
/// phases.mlir, schedule.mlir and cu (for an arch), and the machine's stage where there is text of
/// it. A folder that cannot be written is no reason to fail a compile: it costs one warning.
void dump(const DumpInput &input, const jit::Reporter &reporter);

} // namespace fw
