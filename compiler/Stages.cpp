#include "compiler/Stages.h"

#include "compiler/RecordBuilder.h"
#include "compiler/emit/CudaPrinter.h"
#include "compiler/language/Lowering.h"
#include "compiler/passes/Context.h"
#include "compiler/passes/Pipeline.h"
#include "compiler/target/Target.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace fw {
namespace {

/// A module and the context it lives in.
struct Module {
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;

  std::string text() {
    std::string out;
    llvm::raw_string_ostream stream(out);
    module->print(stream);
    return out;
  }
};

/// "threads=256,vec=4"
std::string pairs(const std::map<std::string, int64_t> &numbers) {
  std::string out;
  for (const auto &[name, value] : numbers)
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return out;
}

passes::PipelineOptions pipelineOptions(const ResolvedRequest &request) {
  passes::PipelineOptions options;
  for (const RequestOperand &operand : request.operands)
    if (operand.present)
      options.dtypes += (options.dtypes.empty() ? "" : ",") + operand.name + "=" + operand.dtype;
  options.features.assign(request.request.features.begin(), request.request.features.end());
  const std::string &scheduleArch = request.request.scheduleArch;
  options.arch = scheduleArch.empty() ? request.request.target : scheduleArch;
  options.schedule = pairs(request.request.schedule);
  options.facts = pairs(request.request.facts);
  return options;
}

Result<Module> lowerTo(const ResolvedRequest &request, passes::Stage stage) {
  Module out{passes::createContext(), {}};
  auto module = language::lowerOp(*out.context, request.op, request.request.absent);
  if (!module)
    return module.takeError();
  out.module = std::move(*module);
  if (auto done = passes::runPipeline(*out.module, stage, pipelineOptions(request)); !done)
    return done.takeError();
  return out;
}

passes::Stage lastStage(const ResolvedRequest &request) {
  return target::isCpuTarget(request.request.target) ? passes::Stage::Phases : passes::Stage::Cuda;
}

/// Each module on the way to the last, lowered anew: only dumps ask for them.
Result<std::vector<StageText>> stageTexts(const ResolvedRequest &request) {
  constexpr std::pair<const char *, passes::Stage> kStages[] = {
      {"semantic.mlir", passes::Stage::Semantic},
      {"contracted.mlir", passes::Stage::Contracted},
      {"phases.mlir", passes::Stage::Phases},
      {"schedule.mlir", passes::Stage::Cuda}};
  std::vector<StageText> texts = {{"request", request.canonicalText}};
  for (auto [name, stage] : kStages) {
    if (stage > lastStage(request))
      break;
    auto lowered = lowerTo(request, stage);
    if (!lowered)
      return lowered.takeError();
    texts.push_back({name, lowered->text()});
  }
  return texts;
}

/// What does not fit registers; -1 of either: not known. Where a kernel has a stack, it was made
/// for values that the assembler does not count as spilled.
int localBytes(const jit::KernelRecord &kernel) {
  return std::max(kernel.launch.spillBytes, 0) + std::max(kernel.launch.stackBytes, 0);
}

} // namespace

Result<Lowered> lower(const ResolvedRequest &request, bool keepStages) {
  auto lowered = lowerTo(request, lastStage(request));
  if (!lowered)
    return lowered.takeError();
  auto programs = lowered->module->getOps<fuse::ProgramOp>();
  fuse::ProgramOp program = *programs.begin();
  auto record = buildRecord(program, request);
  if (!record)
    return record.takeError();
  Lowered out{.record = std::move(*record)};
  if (keepStages) {
    auto stages = stageTexts(request);
    if (!stages)
      return stages.takeError();
    out.stages = std::move(*stages);
  }
  if (target::isCpuTarget(request.request.target)) {
    out.phases = lowered->text();
    return out;
  }
  auto arch = target::findArch(request.request.target);
  if (!arch)
    return arch.takeError();
  auto sources = emit::printCuda(program, **arch);
  if (!sources)
    return sources.takeError();
  out.sources = std::move(*sources);
  return out;
}

jit::ProgramRecord withFewerSpills(jit::ProgramRecord first, const jit::ProgramRecord &second) {
  for (size_t k = 0; k < first.kernels.size(); ++k)
    if (localBytes(second.kernels[k]) < localBytes(first.kernels[k]))
      first.kernels[k] = second.kernels[k];
  return first;
}

std::optional<ResolvedRequest> secondCandidate(const ResolvedRequest &request,
                                               const jit::ProgramRecord &record) {
  const bool spills = llvm::any_of(record.kernels, [](auto &each) { return localBytes(each) > 0; });
  // A row that threads hold is decoded again instead of kept; the rule of rows has counted its
  // blocks. Kernels over elements get more registers.
  const bool hasRows = llvm::any_of(
      record.kernels, [](const jit::KernelRecord &each) { return each.launch.pattern == "rows"; });
  const bool isFresh = llvm::any_of(record.kernels, [](const jit::KernelRecord &each) {
    return each.launch.schedule.find("fresh=1") != std::string::npos;
  });
  const char *decision = hasRows ? "fresh" : "blocks_per_sm";
  if (!spills || isFresh || request.request.schedule.count(decision))
    return std::nullopt;
  ResolvedRequest second = request;
  second.request.schedule[decision] = 1;
  return second;
}

Result<std::string> semanticText(const ResolvedRequest &request, bool afterFma) {
  auto lowered = lowerTo(request, afterFma ? passes::Stage::Contracted : passes::Stage::Semantic);
  return lowered ? Result<std::string>(lowered->text()) : lowered.takeError();
}

Result<std::string> phasesText(const ResolvedRequest &request) {
  auto lowered = lowerTo(request, lastStage(request));
  return lowered ? Result<std::string>(lowered->text()) : lowered.takeError();
}

} // namespace fw
