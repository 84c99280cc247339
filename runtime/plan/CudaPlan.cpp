#include "runtime/plan/CudaPlan.h"

#include "runtime/driver/Scopes.h"
#include "runtime/plan/CudaPlanErrors.h"
#include "runtime/plan/CudaStage.h"

#include <algorithm>

namespace fw::plan {
namespace {

class CudaPlan : public Plan {
public:
  CudaPlan(DeviceWorld given, std::vector<Group> lists)
      : launched(given.launches), where(countedBy(std::move(given), queued)),
        groups(std::move(lists)) {
    for (const Group &group : groups) {
      firstTensors.push_back(tensors);
      tensors += group.length;
    }
  }

  Result<void> make(std::span<const CudaProgram *const> cudaPrograms,
                    const std::function<bool(size_t hyper)> &isOnDevice) {
    addPrograms(cudaPrograms);
    for (auto &program : programs)
      if (auto made = program->columns.allocate(where); !made)
        return made;
    if (auto made = makeStages(); !made)
      return made;
    choose(isOnDevice, false, false);
    bool usesKernel = std::ranges::any_of(stages, [](auto &stage) { return stage->hasWorld(); });
    for (size_t s = 0; s < stages.size(); ++s) {
      usesKernel = usesKernel || by[s] == ScalarsBy::LAUNCH;
      if (by[s] == ScalarsBy::LAST_BLOCK || by[s] == ScalarsBy::LAUNCH)
        if (auto made = stages[s]->allocateScalars(where); !made)
          return made;
    }
    return usesKernel ? scalarsKernel.load(where, false) : Result<void>();
  }

  Result<void> setPointers(size_t group, size_t operand, std::span<void *const> pointers) override {
    if (Result<void> good = checkPointers(groups[group], operand, pointers); !good)
      return good;
    const launch::Operand &which = groups[group].program->operands[operand];
    if (which.scope == launch::Scope::Element)
      return repoint(group, operand, pointers);
    for (Group &each : groups)
      if (which.scope == launch::Scope::All || &each == &groups[group])
        storePointers(each, operand, pointers);
    return {};
  }

  Result<void> run(const RunScalars &scalars, void *handle, const fw_world *ranks) override {
    RunStream run{static_cast<driver::CUstream>(handle)};
    if (Result<void> usable = where.driver->checkFork(); !usable)
      return usable;
    auto context = driver::CurrentContext::enter(*where.driver, where.context);
    if (!context)
      return context.takeError();
    Result<bool> capturing = driver::isCapturing(*where.driver, run.stream);
    if (!capturing)
      return capturing.takeError();
    run.capturing = *capturing;
    if (Result<void> ready = prepare(scalars, ranks != nullptr, run); !ready)
      return ready;
    if (run.capturing)
      freeze();
    Result<void> done = launchAll(ranks, run.stream);
    *launched += queued.exchange(0);
    return done;
  }

  Stats stats() const override {
    Stats stats = countGroups(groups);
    for (const auto &program : programs)
      stats.workspaceBytes += program->columns.workspaceBytes();
    for (size_t s = 0; s < stages.size(); ++s) {
      stats.launches += stages[s]->kernelCount() + stages[s]->scalarsCount(by[s]);
      if (exchanges(s))
        stats.launches += stages[s]->exchangeCount();
      stats.blocks += stages[s]->blocks();
      stats.workspaceBytes += stages[s]->workspaceBytes();
    }
    return stats;
  }

private:
  // --- Making ------------------------------------------------------------------------------------

  /// Launches of one plan are counted by themselves, so that it knows how many came before one that
  /// is refused.
  static DeviceWorld countedBy(DeviceWorld world, std::atomic<uint64_t> &counter) {
    world.launches = &counter;
    return world;
  }

  void addPrograms(std::span<const CudaProgram *const> cudaPrograms) {
    std::vector<const CudaProgram *> distinct;
    for (const CudaProgram *program : cudaPrograms)
      if (std::ranges::find(distinct, program) == distinct.end())
        distinct.push_back(program);
    size_t firstRow = 0;
    for (const CudaProgram *program : distinct) {
      std::vector<size_t> chosen;
      for (size_t g = 0; g < cudaPrograms.size(); ++g)
        if (cudaPrograms[g] == program)
          chosen.push_back(g);
      programs.push_back(
          std::make_unique<PlanProgram>(*program, groups, std::move(chosen), firstRow));
      firstRow += programs.back()->lists.entryRows.size();
      elements += double(programs.back()->lists.elements);
    }
  }

  Result<void> makeStages() {
    const size_t count = programs.empty() ? 0 : programs.front()->lists.program->stages.size();
    size_t firstReduction = 0;
    for (size_t s = 0; s < count; ++s) {
      auto made = CudaStage::make(where, programs, s, firstReduction,
                                  stages.empty() ? nullptr : stages.back().get());
      if (!made)
        return made.takeError();
      stages.push_back(std::move(*made));
      firstReduction += programs.front()->lists.program->stages[s].reductions.size();
    }
    by.assign(stages.size(), ScalarsBy::NOBODY);
    return {};
  }

  /// Who computes the scalars of each stage.
  void choose(const std::function<bool(size_t hyper)> &isOnDevice, bool counts, bool withRanks) {
    hasRanks = withRanks;
    for (size_t s = 0; s < stages.size(); ++s)
      by[s] = stages[s]->scalarsBy(isOnDevice, counts && s + 1 == stages.size(),
                                   s > 0 && exchanges(s - 1));
  }

  bool exchanges(size_t s) const { return hasRanks && stages[s]->hasWorld(); }

  // --- New addresses -----------------------------------------------------------------------------

  Result<void> repoint(size_t group, size_t operand, std::span<void *const> pointers) {
    for (size_t p = 0; p < programs.size(); ++p) {
      PlanProgram &program = *programs[p];
      if (program.lists.find(group) == program.lists.groups.size() || !program.columns.has(operand))
        continue;
      const uint64_t changed = program.columns.stage(groups[group], group, operand, pointers);
      // Heads are planned for the alignment that addresses had.
      constexpr uint64_t vectorBytes = 16;
      const bool movesHeads = changed % vectorBytes != 0;
      if (movesHeads)
        for (auto &stage : stages)
          if (Result<void> staged = stage->stage(p, operand); !staged)
            return staged;
      program.columns.commit();
      if (movesHeads)
        for (auto &stage : stages)
          stage->commit(p, operand);
    }
    return {};
  }

  // --- A run -------------------------------------------------------------------------------------

  /// All that may fail but for the launches.
  Result<void> prepare(const RunScalars &scalars, bool withRanks, RunStream run) {
    const std::vector<ScalarCounter> counters =
        countersOf(scalars, groups.size(), groups.empty() ? 0 : hyperCount());
    choose([&](size_t hyper) { return scalars.isOnDevice(hyper); }, !counters.empty(), withRanks);
    for (size_t s = 0; s < stages.size(); ++s)
      if (by[s] == ScalarsBy::LAUNCH || exchanges(s))
        if (auto loaded = scalarsKernel.load(where, run.capturing); !loaded)
          return loaded;
    for (auto &program : programs)
      if (auto updated = program->columns.update(where, run.stream, run.capturing); !updated)
        return updated;
    reduced.clear();
    for (size_t s = 0; s < stages.size(); ++s) {
      if (auto ready = stages[s]->prepareKernels(where, run, reduced); !ready)
        return ready;
      if (exchanges(s))
        if (auto ready = stages[s]->prepareExchange(where, run, reduced); !ready)
          return ready;
    }
    const RunInputs inputs{groups, scalars, firstTensors, elements, reduced};
    for (size_t s = 0; s < stages.size(); ++s) {
      const bool isLast = s + 1 == stages.size();
      if (auto ready = stages[s]->prepareScalars(where, inputs,
                                                 isLast ? std::span<const ScalarCounter>(counters)
                                                        : std::span<const ScalarCounter>(),
                                                 by[s], run);
          !ready)
        return ready;
    }
    for (size_t s = 0; s + 1 < stages.size(); ++s)
      if (auto ready = stages[s]->prepareTail(where, *stages[s + 1], exchanges(s), run); !ready)
        return ready;
    return {};
  }

  void freeze() {
    for (auto &program : programs)
      program->columns.freeze();
    for (auto &stage : stages)
      stage->freeze();
  }

  Result<void> launchAll(const fw_world *ranks, driver::CUstream stream) {
    for (size_t s = 0; s < stages.size(); ++s) {
      CudaStage &stage = *stages[s];
      const bool isLast = s + 1 == stages.size();
      Progress progress{.hasScalars = by[s] == ScalarsBy::LAST_BLOCK};
      const uint64_t before = queued;
      auto done = stage.launchScalars(where, scalarsKernel, stream);
      progress.scalars = size_t(queued - before) - !done; // the refused one is counted too
      if (done) {
        progress.hasScalars = progress.hasScalars || by[s] == ScalarsBy::LAUNCH;
        done = stage.launchKernels(where, stream, isBehindReducing(s), progress.kernels);
      }
      if (!done)
        return isLast ? stoppedBy(done.takeError(), progress, stream) : done.takeError();
      if (exchanges(s))
        if (auto done = stage.exchange(where, scalarsKernel, *ranks, stream); !done)
          return done;
    }
    return {};
  }

  /// Whether the kernel that stage `s` queues first follows the last block of a reduction.
  bool isBehindReducing(size_t s) const {
    return s > 0 && stages[s - 1]->blocks() > 0 && stages[s - 1]->reduces() &&
           by[s] != ScalarsBy::LAUNCH && !exchanges(s - 1);
  }

  /// What is queued of the last stage.
  struct Progress {
    bool hasScalars = false; ///< all of them
    size_t scalars = 0;      ///< launches of fw_scalars
    size_t kernels = 0;
  };

  /// The error of a run of which parts are queued already, with what they leave behind.
  Error stoppedBy(Error error, const Progress &progress, driver::CUstream stream) {
    if (progress.kernels > 0)
      return behindKernels(std::move(error));
    if (!progress.hasScalars)
      return progress.scalars > 0 && writesTensors()
                 ? behindScalarsOf(groupsOfLast(progress.scalars), std::move(error))
                 : error;
    const DeviceScalars &scalars = stages.back()->firstScalars().onDevice();
    if (scalars.launch().storeCount > 0)
      return behindScalars(std::move(error));
    if (scalars.launch().counterCount > 0 && !takeBack(scalars, stream))
      return behindCount(std::move(error));
    return error;
  }

  bool writesTensors() const {
    const launch::Program &first = *programs.front()->lists.program;
    return std::ranges::any_of(
        first.stages.back().scalars.results, [&](const jit::ScalarResult &result) {
          return first.operands[result.operand].scope == launch::Scope::Tensor;
        });
  }

  /// Scalars are launched from the last program to the first, which alone counts and writes the
  /// operands of all; where they write operands of tensors, those of every program are.
  std::vector<size_t> groupsOfLast(size_t count) const {
    std::vector<size_t> found;
    for (size_t p = programs.size() - count; p < programs.size(); ++p)
      found.insert(found.end(), programs[p]->lists.groups.begin(), programs[p]->lists.groups.end());
    return found;
  }

  /// In the order of the stream. Whether a run was skipped, and so not counted, only the device
  /// knows.
  bool takeBack(const DeviceScalars &scalars, driver::CUstream stream) {
    return scalars.launch().skip == ScalarsLaunch::NEVER && scalarsKernel.isLoaded() &&
           scalarsKernel.launch(where, scalars.takingBack(), stream);
  }

  size_t hyperCount() const { return groups.front().program->hypers.size(); }

  std::atomic<uint64_t> queued = 0;      ///< launches of this run
  std::atomic<uint64_t> *const launched; ///< of the context
  const DeviceWorld where;
  std::vector<Group> groups;
  std::vector<size_t> firstTensors; ///< by group
  size_t tensors = 0;
  double elements = 0;
  PlanPrograms programs;
  std::vector<std::unique_ptr<CudaStage>> stages;
  ScalarsKernel scalarsKernel;

  // Of the run that was prepared last.
  std::vector<ScalarsBy> by; ///< stage
  bool hasRanks = false;
  std::vector<ReducedPlace> reduced;
};

} // namespace

Result<std::unique_ptr<Plan>> makeCudaPlan(DeviceWorld world, std::vector<Group> groups,
                                           std::span<const CudaProgram *const> programs,
                                           const std::function<bool(size_t hyper)> &isOnDevice) {
  auto plan = std::make_unique<CudaPlan>(std::move(world), std::move(groups));
  if (Result<void> made = plan->make(programs, isOnDevice); !made)
    return made.takeError();
  return std::unique_ptr<Plan>(std::move(plan));
}

} // namespace fw::plan
