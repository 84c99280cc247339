#include "runtime/launch/Rows.h"

#include "runtime/launch/RowEntries.h"
#include "runtime/launch/Work.h"

#include <algorithm>

namespace fw::launch {

namespace {

/// Runs rows [first, last) of an entry. `index` and `pointers` have room for the axes in front and
/// the kernel's operands: threads allocate nothing.
void runRows(const RowEntry &entry, const Kernel &kernel, const void *scalars, int64_t first,
             int64_t last, std::span<int64_t> index, std::span<const void *> pointers) {
  for (int64_t row = first; row < last; ++row) {
    int64_t rest = row;
    for (size_t axis = entry.axesInFront(); axis-- > 0;) {
      index[axis] = rest % entry.lengths()[axis];
      rest /= entry.lengths()[axis];
    }
    for (size_t c = 0; c < pointers.size(); ++c) {
      const RowOperand &operand = entry.operand(kernel.operands[c]);
      pointers[c] = operand.data ? operand.data + operand.offset(index) : nullptr;
    }
    // A kernel over rows reads the place of its row where others add what they reduce.
    kernel.function(pointers.data(), 0, entry.columns(), scalars,
                    reinterpret_cast<double *>(index.data()));
  }
}

/// Slots as the kernel reads them.
std::vector<double> tableOf(const Stage &stage, const RowSlots &slots) {
  std::vector<double> table(slots.size() + 1);
  for (size_t slot = 0; slot < slots.size(); ++slot)
    if (stage.kernel->doubleScalars)
      table[slot] = slots[slot];
    else
      reinterpret_cast<float *>(table.data())[slot] = float(slots[slot]);
  return table;
}

/// Rows of a share: as much memory as a share of elements has.
int64_t rowsOfShare(const Program &program, int64_t columns) {
  const int64_t bytes = std::max<int64_t>(bytesPerElement(program.operands) * columns, 1);
  return std::max<int64_t>(shareBytes / 4 / bytes, 1);
}

/// Shares of rows, each with room of its own for what its rows are addressed by.
void runEntry(const RowEntry &entry, const Kernel &kernel, const void *scalars, int64_t step,
              const Executor &executor) {
  const size_t shares = size_t((entry.rows() + step - 1) / step);
  const size_t outer = entry.axesInFront(), columns = kernel.operands.size();
  std::vector<int64_t> index(shares * outer);
  std::vector<const void *> pointers(shares * columns);
  auto share = [&](size_t s) {
    runRows(entry, kernel, scalars, int64_t(s) * step,
            std::min(entry.rows(), int64_t(s + 1) * step),
            std::span(index).subspan(s * outer, outer),
            std::span(pointers).subspan(s * columns, columns));
  };
  if (shares == 1)
    share(0);
  else if (shares > 1)
    executor.parallelFor(shares, share);
}

} // namespace

Result<void> launchRows(const Program &program, const TensorArray &tensors,
                        const ScalarArray &scalars, const Executor &executor) {
  Result<RowsInput> input = readRows(program, tensors, scalars, {});
  if (!input)
    return input.takeError();
  const Stage &stage = program.stages.front();
  for (const RowEntry &entry : input->entries) {
    const std::vector<double> table = tableOf(
        stage, rowSlots(stage, input->scalars.row(input->scalars.rowOf(entry.position())), entry));
    runEntry(entry, *stage.kernel, table.data(), rowsOfShare(program, entry.columns()), executor);
  }
  return {};
}

} // namespace fw::launch
