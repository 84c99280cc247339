#include "runtime/launch/Launch.h"

#include "runtime/launch/Rows.h"

namespace fw::launch {

Result<void> launch(const Program &program, const TensorArray &tensors, const ScalarArray &scalars,
                    const Executor &executor) {
  if (!program.header.axes.empty())
    return launchRows(program, tensors, scalars, executor);
  Result<TensorList> list = checkTensors(program.operands, tensors);
  if (!list)
    return list.takeError();
  Result<ScalarRows> rows = readScalars(program.hypers, scalars, list->length);
  if (!rows)
    return rows.takeError();
  const Split split = splitWork(program, *list, executor.threads);
  const RunGroup only{program, *list, split, *rows};
  if (Result<bool> done = execute({&only, 1}, executor); !done)
    return done.takeError();
  return {};
}

} // namespace fw::launch
