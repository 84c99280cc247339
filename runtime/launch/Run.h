// One run of a program over lists that are checked and split, stage after stage.
#pragma once

#include "compiler/support/Threads.h"
#include "runtime/launch/Program.h"
#include "runtime/launch/Work.h"

#include <functional>
#include <span>

namespace fw::launch {

struct Executor {
  unsigned threads = 1; ///< that `parallelFor` may have
  ParallelFor parallelFor;
};

/// A list split into work for kernels that store, and for kernels that reduce.
struct Split {
  WorkPlan storing;
  WorkPlan reducing;
};
Split splitWork(const Program &program, const TensorList &list, unsigned threads);

/// A list of a run. The programs of a run are one op's, so they have the same stages but for
/// dtypes.
struct RunGroup {
  const Program &program;
  const TensorList &list;
  const Split &split;
  const ScalarRows &rows;
};

/// Reduces numbers over all ranks, in place; `kind` is "sum" or "max".
using AllReduce = std::function<Result<void>(std::span<double> numbers, const char *kind)>;

/// Runs the groups as one step and returns when it is done: a reduction that keeps all, and the
/// decision to skip, are those of all groups. False: the step was skipped. Everything is allocated
/// before the first byte is written, and an error of `allReduce` comes before that too. Without
/// one, this is the only rank.
Result<bool> execute(std::span<const RunGroup> groups, const Executor &executor,
                     const AllReduce &allReduce = {});

} // namespace fw::launch
