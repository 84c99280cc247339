#include "runtime/launch/Launch.h"

#include "compiler/support/FloatMode.h"
#include "runtime/launch/Layout.h"

#include <algorithm>

namespace fw::launch {

namespace {

/// The scalar table of a kernel: a row of f32 or f64 slots per row of hypers.
class ScalarTable {
public:
  ScalarTable(const Program &program, const Kernel &kernel, const ScalarRows &rows)
      : rowBytes(kernel.slots * (kernel.doubleScalars ? sizeof(double) : sizeof(float))) {
    size_t words = rowBytes * rows.rows / sizeof(double) + 1;
    storage.resize(words);
    std::vector<double> slots(kernel.slots);
    for (size_t r = 0; r < rows.rows; ++r) {
      program.scalarProgram(rows.row(r), slots);
      if (kernel.doubleScalars)
        std::ranges::copy(slots, reinterpret_cast<double *>(mutableRow(r)));
      else
        std::ranges::transform(slots, reinterpret_cast<float *>(mutableRow(r)),
                               [](double value) { return float(value); });
    }
  }
  const void *row(size_t r) const {
    return reinterpret_cast<const char *>(storage.data()) + r * rowBytes;
  }

private:
  void *mutableRow(size_t r) { return reinterpret_cast<char *>(storage.data()) + r * rowBytes; }

  size_t rowBytes;
  std::vector<double> storage; ///< of the alignment that both types need
};

/// One kernel over one list. Everything a thread needs is allocated before the first piece runs.
class KernelRun {
public:
  KernelRun(const Program &program, const Kernel &kernel, const TensorList &list,
            const ScalarRows &rows, const WorkPlan &plan)
      : kernel(kernel), list(list), rows(rows), plan(plan), table(program, kernel, rows),
        pointers(plan.pieces.size() * kernel.operands.size()) {}

  void share(size_t index) {
    for (size_t p = plan.starts[index]; p < plan.starts[index + 1]; ++p)
      piece(plan.pieces[p], pointers.data() + p * kernel.operands.size());
  }

private:
  /// Walks the runs of a piece; `scratch` holds the addresses of the current run.
  void piece(const Piece &piece, const void **scratch) {
    const Entry &entry = list.entries[piece.entry];
    const void *scalars = table.row(rows.rowOf(entry.position));
    int64_t end = piece.first + piece.count;
    for (int64_t at = piece.first; at < end;) {
      int64_t run = at / entry.run, begin = at % entry.run;
      int64_t count = std::min(entry.run - begin, end - at);
      addresses(piece.entry, run, scratch);
      kernel.function(scratch, begin, begin + count, scalars);
      at += count;
    }
  }

  void addresses(size_t index, int64_t run, const void **out) {
    const Entry &entry = list.entries[index];
    for (size_t c = 0; c < kernel.operands.size(); ++c) {
      const size_t operand = kernel.operands[c];
      out[c] = list.pointers[index * list.operands + operand];
      if (out[c])
        out[c] = static_cast<const char *>(out[c]) + runOffset(entry, run, operand);
    }
  }

  const Kernel &kernel;
  const TensorList &list;
  const ScalarRows &rows;
  const WorkPlan &plan;
  ScalarTable table;
  std::vector<const void *> pointers;
};

/// The scalar programs run here, whatever mode the caller's thread is in. Kernels set the mode
/// themselves, since they also run on the host's threads.
std::vector<KernelRun> prepareRuns(const Program &program, const PreparedList &prepared,
                                   const ScalarRows &rows) {
  StandardFloatMode mode;
  std::vector<KernelRun> runs;
  runs.reserve(program.kernels.size());
  for (const Kernel &kernel : program.kernels)
    runs.emplace_back(program, kernel, prepared.list, rows, prepared.work);
  return runs;
}

} // namespace

int64_t bytesPerElement(std::span<const Operand> operands) {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (operand.present)
      bytes += operand.bytes * (int64_t(operand.read) + int64_t(operand.written));
  return bytes;
}

PreparedList prepare(const Program &program, TensorList list, unsigned threads) {
  std::vector<int64_t> elements;
  for (const Entry &entry : list.entries)
    elements.push_back(entry.elements);
  WorkPlan work =
      planWork(elements, std::max<int64_t>(bytesPerElement(program.operands), 1), threads);
  return {std::move(list), std::move(work)};
}

void execute(const Program &program, const PreparedList &prepared, const ScalarRows &rows,
             const Executor &executor) {
  std::vector<KernelRun> runs = prepareRuns(program, prepared, rows);
  for (KernelRun &run : runs) {
    if (prepared.work.shares() <= 1) {
      for (size_t c = 0; c < prepared.work.shares(); ++c)
        run.share(c);
      continue;
    }
    executor.parallelFor(prepared.work.shares(), [&run](size_t c) { run.share(c); });
  }
}

Result<void> launch(const Program &program, const TensorArray &tensors, const ScalarArray &scalars,
                    const Executor &executor) {
  Result<TensorList> list = checkTensors(program.operands, tensors);
  if (!list)
    return list.takeError();
  Result<ScalarRows> rows =
      readScalars(program.hypers, scalars, tensors.size() / program.operands.size());
  if (!rows)
    return rows.takeError();
  execute(program, prepare(program, std::move(*list), executor.threads), *rows, executor);
  return {};
}

} // namespace fw::launch
