#include "runtime/plan/CudaStage.h"

#include <algorithm>

namespace fw::plan {
namespace {

/// Operands that some kernel of a program has.
std::vector<uint32_t> operandsOf(const CudaProgram &program) {
  std::vector<uint32_t> operands;
  for (const auto &kernel : program.kernels)
    if (kernel)
      operands.insert(operands.end(), kernel->operands.begin(), kernel->operands.end());
  std::ranges::sort(operands);
  const auto same = std::ranges::unique(operands);
  operands.erase(same.begin(), same.end());
  return operands;
}

bool fitsBlock(const jit::ScalarProgram &program) {
  return ScalarsLaunch::lanes(uint32_t(program.inputs.size()), uint32_t(program.operations.size()),
                              ReduceTail::VALUES) != 0;
}

} // namespace

PlanProgram::PlanProgram(const CudaProgram &program, std::span<const Group> groups,
                         std::vector<size_t> chosen, size_t firstRow)
    : cuda(program), lists(collectLists(groups, std::move(chosen), firstRow)),
      columns(lists, groups, operandsOf(program)) {}

// --- Making --------------------------------------------------------------------------------------

Result<std::unique_ptr<CudaStage>> CudaStage::make(const DeviceWorld &world,
                                                   const PlanPrograms &programs, size_t number,
                                                   size_t firstReduction, CudaStage *before) {
  std::unique_ptr<CudaStage> made(new CudaStage);
  made->reductions = programs.front()->lists.program->stages[number].reductions;
  if (Result<void> parts = made->makeParts(world, programs, number, before); !parts)
    return parts.takeError();
  if (Result<void> reduced = made->makeReductions(world, programs, firstReduction); !reduced)
    return reduced.takeError();
  return made;
}

Result<void> CudaStage::makeParts(const DeviceWorld &world, const PlanPrograms &programs,
                                  size_t number, CudaStage *before) {
  for (size_t p = 0; p < programs.size(); ++p) {
    PlanProgram &program = *programs[p];
    const CudaKernel *kernel = program.cuda.kernels[number].get();
    auto &launch = launches.emplace_back();
    if (kernel && !program.lists.segments.empty()) {
      auto made = CudaLaunch::make(world, *kernel, program.lists, program.columns);
      if (!made)
        return made.takeError();
      launch = std::move(*made);
    }
    auto made = StageScalars::make(program.lists, number, launch ? kernel : nullptr, p == 0);
    if (!made)
      return made.takeError();
    scalars.push_back(std::move(*made));
    if (launch && !scalars[p].needsDevice())
      if (Result<void> rows = scalars[p].allocateRows(world, launch->parameters()); !rows)
        return rows;
  }
  ScalarCodes codes;
  fitsTail = before != nullptr;
  for (size_t p = 0; p < programs.size(); ++p)
    if (takesPart(p)) {
      codes |= codesOf(scalars[p].program());
      fitsTail = fitsTail && fitsBlock(scalars[p].program());
    }
  fitsTail = fitsTail && before->chooseLast(codes);
  return {};
}

Result<void> CudaStage::makeReductions(const DeviceWorld &where, const PlanPrograms &programs,
                                       size_t firstReduction) {
  if (reductions.empty())
    return {};
  auto exchange = WorldExchange::make(where, reductions, firstReduction);
  if (!exchange)
    return exchange.takeError();
  world = std::move(*exchange);
  if (blocks() == 0)
    return {};
  std::vector<ReducingLaunch> parts;
  for (size_t p = 0; p < programs.size(); ++p)
    parts.push_back({launches[p].get(), programs[p]->lists.firstRow});
  const ProgramLists &end = programs.back()->lists;
  auto made = StageReductions::make(where, reductions, std::move(parts),
                                    end.firstRow + end.entryRows.size());
  if (!made)
    return made.takeError();
  partials = std::move(*made);
  return {};
}

bool CudaStage::chooseLast(const ScalarCodes &codes) {
  for (size_t p = 0; p < launches.size(); ++p)
    if (launches[p]) {
      last = p;
      if ((codes & ~launches[p]->ofKernel().codes).none())
        return true;
    }
  return false;
}

bool CudaStage::takesPart(size_t program) const {
  return program == 0 || scalars[program].hasSlots() || scalars[program].writesTensors();
}

// --- Who computes scalars ------------------------------------------------------------------------

ScalarsBy CudaStage::scalarsBy(const std::function<bool(size_t hyper)> &isOnDevice, bool counts,
                               bool exchanges) const {
  bool hasWork = counts, needsDevice = counts;
  for (const StageScalars &each : scalars) {
    hasWork = hasWork || each.hasSlots() || each.writesResults();
    needsDevice = needsDevice || each.needsDevice() || each.readsAny(isOnDevice);
  }
  if (!hasWork)
    return ScalarsBy::NOBODY;
  if (!needsDevice)
    return ScalarsBy::HOST;
  return fitsTail && !exchanges ? ScalarsBy::LAST_BLOCK : ScalarsBy::LAUNCH;
}

Result<void> CudaStage::allocateScalars(const DeviceWorld &where) {
  for (size_t p = 0; p < scalars.size(); ++p)
    if (takesPart(p))
      if (Result<void> made = scalars[p].allocateOnDevice(where); !made)
        return made;
  return {};
}

bool CudaStage::gathersInTail() const {
  const jit::ScalarProgram &gathering = world->gatherProgram();
  return partials && fitsBlock(gathering) &&
         (codesOf(gathering) & ~launches[last]->ofKernel().codes).none();
}

// --- Preparing a run -----------------------------------------------------------------------------

Result<void> CudaStage::prepareKernels(const DeviceWorld &where, RunStream run,
                                       std::vector<ReducedPlace> &reduced) {
  for (auto &launch : launches)
    if (launch)
      if (auto ready = launch->prepare(where, run.stream, run.capturing); !ready)
        return ready;
  if (partials)
    if (auto ready = partials->prepare(where, run.stream, run.capturing); !ready)
      return ready;
  for (size_t r = 0; r < reductions.size(); ++r)
    reduced.push_back(partials ? partials->place(r)
                               : ReducedPlace{.neutral = launch::neutralOf(reductions[r].kind)});
  return {};
}

Result<void> CudaStage::prepareExchange(const DeviceWorld &where, RunStream run,
                                        std::span<ReducedPlace> reduced) {
  return world->prepare(where, reduced, run.stream, run.capturing);
}

Result<void> CudaStage::prepareScalars(const DeviceWorld &where, const RunInputs &inputs,
                                       std::span<const ScalarCounter> counters, ScalarsBy by,
                                       RunStream run) {
  scalarsOf = by;
  for (size_t p = 0; p < scalars.size() && by != ScalarsBy::NOBODY; ++p) {
    if (by == ScalarsBy::HOST ? !scalars[p].hasSlots() : !takesPart(p))
      continue;
    KernelArguments *parameters = launches[p] ? &launches[p]->parameters() : nullptr;
    Result<void> ready =
        by == ScalarsBy::HOST
            ? scalars[p].prepareOnHost(where, inputs, *parameters, run.stream, run.capturing)
            : scalars[p].prepareOnDevice(where, inputs,
                                         p == 0 ? counters : std::span<const ScalarCounter>(),
                                         parameters, run.stream, run.capturing);
    if (!ready)
      return ready;
  }
  return {};
}

Result<void> CudaStage::prepareTail(const DeviceWorld &where, const CudaStage &next, bool exchanges,
                                    RunStream run) {
  if (!partials)
    return {};
  tailPrograms.clear();
  if (exchanges && gathersInTail())
    tailPrograms.push_back(world->gathering().launch());
  else if (next.scalarsOf == ScalarsBy::LAST_BLOCK)
    for (size_t p = 0; p < next.scalars.size(); ++p)
      if (next.takesPart(p))
        tailPrograms.push_back(next.scalars[p].onDevice().launch());
  return partials->setTails(where, last, tailPrograms, run.stream, run.capturing);
}

// --- Launching -----------------------------------------------------------------------------------

Result<void> CudaStage::launchScalars(const DeviceWorld &where, const ScalarsKernel &kernel,
                                      driver::CUstream stream) {
  if (scalarsOf != ScalarsBy::LAUNCH)
    return {};
  // The first program's come last: they write what all programs read, and count.
  for (size_t p = scalars.size(); p-- > 0;)
    if (takesPart(p))
      if (auto queued = kernel.launch(where, scalars[p].onDevice().launch(), stream); !queued)
        return queued;
  return {};
}

Result<void> CudaStage::launchKernels(const DeviceWorld &where, driver::CUstream stream,
                                      bool isBehindReducing, size_t &queued) {
  for (size_t p = 0; p < launches.size(); ++p)
    if (launches[p] && !(reduces() && p == last)) {
      if (auto launched = launches[p]->launch(where, stream, isBehindReducing); !launched)
        return launched;
      isBehindReducing = false;
      ++queued;
    }
  return reduces() && partials ? launches[last]->launch(where, stream, false) : Result<void>();
}

Result<void> CudaStage::exchange(const DeviceWorld &where, const ScalarsKernel &kernel,
                                 const fw_world &ranks, driver::CUstream stream) {
  if (!gathersInTail())
    if (auto queued = kernel.launch(where, world->gathering().launch(), stream); !queued)
      return queued;
  return world->run(where, kernel, ranks, stream);
}

// --- New addresses -------------------------------------------------------------------------------

Result<void> CudaStage::stage(size_t program, size_t operand) {
  if (launches[program] && launches[program]->reads(operand))
    return launches[program]->stage();
  return {};
}

void CudaStage::commit(size_t program, size_t operand) {
  if (launches[program] && launches[program]->reads(operand))
    launches[program]->commit();
}

// --- Numbers -------------------------------------------------------------------------------------

uint64_t CudaStage::blocks() const {
  uint64_t blocks = 0;
  for (const auto &launch : launches)
    blocks += launch ? launch->blocks() : 0;
  return blocks;
}

uint32_t CudaStage::kernelCount() const {
  return uint32_t(std::ranges::count_if(launches, [](const auto &launch) { return !!launch; }));
}

uint32_t CudaStage::scalarsCount(ScalarsBy by) const {
  uint32_t count = 0;
  for (size_t p = 0; p < scalars.size() && by == ScalarsBy::LAUNCH; ++p)
    count += takesPart(p);
  return count;
}

uint32_t CudaStage::exchangeCount() const {
  return world->launchCount() + (gathersInTail() ? 0 : 1);
}

void CudaStage::freeze() {
  for (auto &launch : launches)
    if (launch)
      launch->freeze();
  for (StageScalars &each : scalars)
    each.freeze();
  if (partials)
    partials->freeze();
  if (world)
    world->freeze();
}

size_t CudaStage::workspaceBytes() const {
  size_t bytes = partials ? partials->workspaceBytes() : 0;
  for (const auto &launch : launches)
    bytes += launch ? launch->workspaceBytes() : 0;
  for (const StageScalars &each : scalars)
    bytes += each.workspaceBytes();
  return bytes + (world ? world->workspaceBytes() : 0);
}

} // namespace fw::plan
