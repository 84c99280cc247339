// Plans on the CPU: the lists are checked and split once, the kernels run at every call.
#include "runtime/plan/StageScalars.h"

#include "templates/vocab/scalar_memory.h"

namespace fw::plan {
namespace {

/// The host's callback, as a run calls it.
launch::AllReduce allReduceOf(const fw_world *world, void *stream) {
  if (!world)
    return {};
  return [world, stream](std::span<double> numbers, const char *kind) {
    return allReduce(*world, numbers.data(), numbers.size(), kind, stream);
  };
}

class CpuPlan : public Plan {
public:
  CpuPlan(std::vector<Group> given, const launch::Executor &executor)
      : groups(std::move(given)), executor(executor), counts(countGroups(groups)) {
    for (const Group &group : groups) {
      splits.push_back(launch::splitWork(*group.program, group.list, executor.threads));
      counts.launches += uint32_t(group.program->kernelCount());
      counts.blocks += splits.back().storing.shares() + splits.back().reducing.shares();
    }
  }

  Result<void> setPointers(size_t group, size_t operand, std::span<void *const> pointers) override {
    if (Result<void> good = checkPointers(groups[group], operand, pointers); !good)
      return good;
    const bool ofAll = groups[group].program->operands[operand].scope == launch::Scope::All;
    for (Group &each : groups)
      if (ofAll || &each == &groups[group])
        storePointers(each, operand, pointers);
    return {};
  }

  Result<void> run(const RunScalars &scalars, void *stream, const fw_world *world) override {
    std::vector<launch::ScalarRows> rows;
    for (size_t g = 0; g < groups.size(); ++g)
      rows.push_back(rowsOf(scalars, g));
    std::vector<launch::RunGroup> lists;
    for (size_t g = 0; g < groups.size(); ++g)
      lists.push_back({*groups[g].program, groups[g].list, splits[g], rows[g]});
    const std::vector<ScalarCounter> counters =
        countersOf(scalars, groups.size(), groups.empty() ? 0 : hypersOf(0));
    Result<bool> done = launch::execute(lists, executor, allReduceOf(world, stream));
    if (!done)
      return done.takeError();
    if (*done) // a skipped step counts for nothing
      for (const ScalarCounter &counter : counters)
        countScalar(counter, 1);
    return {};
  }

  Stats stats() const override { return counts; }

private:
  size_t hypersOf(size_t g) const { return groups[g].program->hypers.size(); }

  launch::ScalarRows rowsOf(const RunScalars &scalars, size_t g) const {
    launch::ScalarRows out;
    out.columns = hypersOf(g);
    const size_t length = groups[g].length;
    out.rows = length && scalars.variesByEntry({&g, 1}) ? length : 1;
    out.values.resize(out.rows * out.columns);
    for (size_t row = 0; row < out.rows; ++row) {
      std::span<double> values(out.values.data() + row * out.columns, out.columns);
      scalars.row(g, row, values);
      for (size_t h = 0; h < out.columns; ++h) {
        const RunScalars::Found found = scalars.find(g, h);
        if (found.source.kind == launch::ScalarSource::Kind::Data)
          values[h] = readScalar(hyperSource(found, row));
      }
    }
    return out;
  }

  std::vector<Group> groups;
  std::vector<launch::Split> splits; ///< by group
  launch::Executor executor;
  Stats counts;
};

} // namespace

std::unique_ptr<Plan> makeCpuPlan(std::vector<Group> groups, const launch::Executor &executor) {
  return std::make_unique<CpuPlan>(std::move(groups), executor);
}

} // namespace fw::plan
