#include "runtime/launch/Run.h"

#include "runtime/launch/GroupRun.h"

#include <algorithm>

namespace fw::launch {

namespace {

/// A run of all groups. Everything is allocated by the constructor.
class Run {
public:
  Run(std::span<const RunGroup> given, const Executor &executor, const AllReduce &allReduce)
      : executor(executor), allReduce(allReduce) {
    size_t tensors = 0;
    groups.reserve(given.size());
    for (const RunGroup &group : given) {
      groups.emplace_back(group, tensors);
      tensors += group.list.length;
      for (const Entry &entry : group.list.entries)
        totals.elements += double(entry.elements);
    }
    if (given.empty())
      return;
    stages = given.front().program.stages;
    for (const Stage &stage : stages)
      for (const Reduction &reduction : stage.reductions)
        totals.reduced.push_back(neutralOf(reduction.kind));
    exchanged.reserve(totals.reduced.size());
  }

  Result<bool> run() {
    size_t reductions = 0;
    for (size_t s = 0; s < stages.size(); ++s) {
      if (!runScalars(s))
        return false;
      for (GroupRun &group : groups)
        group.runKernel(s, executor);
      for (GroupRun &group : groups)
        group.fold(s, totals);
      for (bool isSum : {true, false})
        if (Result<void> done = exchange(stages[s].reductions, reductions, isSum); !done)
          return done.takeError();
      reductions += stages[s].reductions.size();
    }
    return true;
  }

private:
  /// All rows are computed before the first result is stored, since numbers that are read may be
  /// written in place. False: the step is skipped.
  bool runScalars(size_t s) {
    for (GroupRun &group : groups)
      group.computeRows(s, totals);
    const bool isSkipped = groups.front().skips();
    for (GroupRun &group : groups)
      group.store(s, isSkipped, &group == &groups.front());
    return !isSkipped;
  }

  /// Sums, or maxima and negated minima, of all ranks.
  Result<void> exchange(std::span<const Reduction> reductions, size_t first, bool isSum) {
    if (!allReduce)
      return {};
    exchanged.clear();
    forEachOfWorld(reductions, isSum, [&](size_t r, double sign) {
      exchanged.push_back(sign * totals.reduced[first + r]);
    });
    if (exchanged.empty())
      return {};
    if (Result<void> done = allReduce(exchanged, isSum ? "sum" : "max"); !done)
      return done;
    size_t at = 0;
    forEachOfWorld(reductions, isSum, [&](size_t r, double sign) {
      totals.reduced[first + r] = sign * exchanged[at++];
    });
    return {};
  }

  template <class Visit>
  static void forEachOfWorld(std::span<const Reduction> reductions, bool isSum, Visit &&visit) {
    for (size_t r = 0; r < reductions.size(); ++r)
      if (reductions[r].keep == Reduction::Keep::World &&
          (reductions[r].kind == Reduction::Kind::Sum) == isSum)
        visit(r, reductions[r].kind == Reduction::Kind::Min ? -1.0 : 1.0);
  }

  const Executor &executor;
  const AllReduce &allReduce;
  std::vector<GroupRun> groups;
  std::span<const Stage> stages;
  Totals totals;
  std::vector<double> exchanged;
};

} // namespace

Split splitWork(const Program &program, const TensorList &list, unsigned threads) {
  std::vector<int64_t> elements;
  for (const Entry &entry : list.entries)
    elements.push_back(entry.elements);
  const int64_t bytes = std::max<int64_t>(bytesPerElement(program.operands), 1);
  Split split{.storing = planWork(elements, bytes, threads), .reducing = {}};
  if (program.reduces())
    split.reducing = planReduction(elements, bytes, threads);
  return split;
}

Result<bool> execute(std::span<const RunGroup> groups, const Executor &executor,
                     const AllReduce &allReduce) {
  return Run(groups, executor, allReduce).run();
}

} // namespace fw::launch
