// The way down from a resolved request, through MLIR, to text: the only part of a compile that
// needs MLIR, so a cache hit never comes here.
#pragma once

#include "compiler/Request.h"
#include "compiler/jit/ProgramRecord.h"

#include <optional>
#include <string>
#include <vector>

namespace fw {

/// The text of one stage, as a dump has it.
struct StageText {
  std::string name; ///< "semantic.mlir"
  std::string text;
};

/// What is compiled further: CUDA source of every kernel, or the phase-level module for the CPU.
struct Lowered {
  jit::ProgramRecord record;
  std::vector<std::string> sources = {}; ///< one per record.kernels; empty for the CPU
  std::string phases = {};               ///< module text; empty for CUDA
  std::vector<StageText> stages = {};    ///< of the way down, in order; empty unless asked for
};

Result<Lowered> lower(const ResolvedRequest &request, bool keepStages = false);

/// The second candidate of a program whose kernels spill or need a stack: the same schedule with
/// all registers for one block an SM. Nothing when none does, or when the request fixes that
/// decision. Whoever compiles takes of each kernel the one with fewer such bytes.
std::optional<ResolvedRequest> secondCandidate(const ResolvedRequest &request,
                                               const jit::ProgramRecord &record);

/// Of both candidates, for each kernel the one that spills less; the first where they are equal.
jit::ProgramRecord withFewerSpills(jit::ProgramRecord first, const jit::ProgramRecord &second);

/// Module text at the semantic level: after specialise and features (what the evaluator's bounds
/// are about), or after fma as well (what its bits are about).
Result<std::string> semanticText(const ResolvedRequest &request, bool afterFma);

/// Module text at the phase level, without a schedule for the CPU and with one for an arch.
Result<std::string> phasesText(const ResolvedRequest &request);

} // namespace fw
