#include "runtime/launch/GroupRun.h"

#include "compiler/support/FloatMode.h"
#include "runtime/launch/Layout.h"
#include "runtime/launch/Numbers.h"

#include <algorithm>

namespace fw::launch {

namespace {

using Input = jit::ScalarInput;

size_t rowBytes(const Kernel &kernel) {
  return kernel.slots * (kernel.doubleScalars ? sizeof(double) : sizeof(float));
}

} // namespace

GroupRun::GroupRun(const RunGroup &group, size_t firstTensor)
    : program(group.program), list(group.list), split(group.split), hypers(group.rows),
      firstTensor(firstTensor), byTensor(group.rows.rows > 1 || group.program.variesByTensor()),
      rows(byTensor ? std::max<size_t>(list.length, 1) : 1) {
  sizes.resize(std::max<size_t>(list.length, 1));
  for (const Entry &entry : list.entries)
    sizes[entry.position] = double(entry.elements);
  for (const Stage &stage : program.stages) {
    reductions.insert(reductions.end(), stage.reductions.begin(), stage.reductions.end());
    auto grow = [](auto &buffer, size_t size) { buffer.resize(std::max(buffer.size(), size)); };
    grow(inputs, stage.scalars.inputs.size());
    grow(values, stage.scalars.valueCount());
    grow(results, rows * stage.scalars.results.size());
    if (!stage.kernel)
      continue;
    const size_t pieces = planOf(stage).pieces.size();
    grow(table, rows * rowBytes(*stage.kernel) / sizeof(double) + 1);
    grow(pointers, pieces * stage.kernel->operands.size());
    grow(partials, pieces * stage.reductions.size());
  }
  for (const Reduction &reduction : reductions)
    perTensor.insert(perTensor.end(), sizes.size(), neutralOf(reduction.kind));
}

const WorkPlan &GroupRun::planOf(const Stage &stage) const {
  return stage.reductions.empty() ? split.storing : split.reducing;
}

size_t GroupRun::firstReduction(size_t s) const {
  size_t first = 0;
  for (size_t before = 0; before < s; ++before)
    first += program.stages[before].reductions.size();
  return first;
}

double GroupRun::inputOf(const Input &input, size_t row, const Totals &totals) const {
  switch (input.kind) {
  case Input::Kind::Hyper:
  case Input::Kind::Step:
    return hypers.row(hypers.rowOf(row))[input.index];
  case Input::Kind::Reduction:
    return reductions[input.index].keep == Reduction::Keep::Tensor
               ? perTensor[input.index * sizes.size() + row]
               : totals.reduced[input.index];
  case Input::Kind::TensorSize:
    return sizes[row];
  case Input::Kind::AllSize:
    return totals.elements;
  case Input::Kind::TensorIndex:
    return double(firstTensor + row);
  case Input::Kind::AxisSize: // of ops over rows, which Rows.cpp runs
    return 0;
  case Input::Kind::Operand:
    break;
  }
  const Operand &operand = program.operands[input.index];
  const Uniform &uniform = *list.uniform(input.index);
  // The row of a list without tensors: nobody sees what it gives for a tensor.
  if (operand.scope == Scope::Tensor && list.length == 0)
    return 0;
  return formatOf(operand.dtype).read(uniform.at(row));
}

void *GroupRun::tableRow(const Kernel &kernel, size_t row) {
  return reinterpret_cast<char *>(table.data()) + row * rowBytes(kernel);
}

/// The scalar programs run here, whatever mode the caller's thread is in. Kernels set the mode
/// themselves, since they also run on the host's threads.
void GroupRun::computeRows(size_t s, const Totals &totals) {
  StandardFloatMode mode;
  const Stage &stage = program.stages[s];
  const jit::ScalarProgram &scalars = stage.scalars;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < scalars.inputs.size(); ++i)
      inputs[i] = inputOf(scalars.inputs[i], row, totals);
    jit::runAll(scalars, inputs.data(), values.data());
    for (size_t r = 0; r < scalars.results.size(); ++r)
      results[row * scalars.results.size() + r] = values[scalars.results[r].value];
    if (row == 0)
      isSkipped = scalars.skip && values[*scalars.skip] != 0;
    if (!stage.kernel)
      continue;
    void *to = tableRow(*stage.kernel, row);
    for (size_t slot = 0; slot < scalars.slots.size(); ++slot)
      if (double value = values[scalars.slots[slot]]; stage.kernel->doubleScalars)
        static_cast<double *>(to)[slot] = value;
      else
        static_cast<float *>(to)[slot] = float(value);
  }
}

void GroupRun::store(size_t s, bool onlyReports, bool ofAll) const {
  StandardFloatMode mode;
  const std::vector<jit::ScalarResult> &stored = program.stages[s].scalars.results;
  for (size_t r = 0; r < stored.size(); ++r) {
    const Uniform *uniform = list.uniform(stored[r].operand);
    const Operand &operand = program.operands[stored[r].operand];
    if (!uniform || (onlyReports && !stored[r].always) || (operand.scope == Scope::All && !ofAll))
      continue;
    const NumberFormat &format = formatOf(operand.dtype);
    for (size_t place = 0; place < uniform->addresses.size(); ++place)
      format.write(uniform->addresses[place], results[place * stored.size() + r]);
  }
}

/// Walks the runs of a piece; `scratch` holds the addresses of the current run.
void GroupRun::piece(const Kernel &kernel, const Piece &piece, const void **scratch,
                     double *results) {
  const Entry &entry = list.entries[piece.entry];
  const void *scalars = tableRow(kernel, byTensor ? entry.position : 0);
  int64_t end = piece.first + piece.count;
  for (int64_t at = piece.first; at < end;) {
    int64_t run = at / entry.run, begin = at % entry.run;
    int64_t count = std::min(entry.run - begin, end - at);
    addresses(kernel, piece.entry, run, scratch);
    kernel.function(scratch, begin, begin + count, scalars, results);
    at += count;
  }
}

void GroupRun::addresses(const Kernel &kernel, size_t index, int64_t run, const void **out) const {
  const Entry &entry = list.entries[index];
  for (size_t c = 0; c < kernel.operands.size(); ++c) {
    const size_t operand = kernel.operands[c];
    out[c] = list.pointers[index * list.operands + operand];
    if (out[c])
      out[c] = static_cast<const char *>(out[c]) + runOffset(entry, run, operand);
  }
}

void GroupRun::share(size_t s, size_t index) {
  const Stage &stage = program.stages[s];
  const WorkPlan &plan = planOf(stage);
  const size_t columns = stage.kernel->operands.size(), reduced = stage.reductions.size();
  for (size_t p = plan.starts[index]; p < plan.starts[index + 1]; ++p)
    piece(*stage.kernel, plan.pieces[p], pointers.data() + p * columns,
          reduced ? partials.data() + p * reduced : nullptr);
}

void GroupRun::runKernel(size_t s, const Executor &executor) {
  const Stage &stage = program.stages[s];
  if (!stage.kernel)
    return;
  const WorkPlan &plan = planOf(stage);
  for (size_t r = 0; r < stage.reductions.size(); ++r)
    for (size_t p = 0; p < plan.pieces.size(); ++p)
      partials[p * stage.reductions.size() + r] = neutralOf(stage.reductions[r].kind);
  if (plan.shares() <= 1) {
    for (size_t c = 0; c < plan.shares(); ++c)
      share(s, c);
    return;
  }
  executor.parallelFor(plan.shares(), [this, s](size_t c) { share(s, c); });
}

void GroupRun::fold(size_t s, Totals &totals) {
  StandardFloatMode mode;
  const std::vector<Reduction> &mine = program.stages[s].reductions;
  const size_t first = firstReduction(s);
  for (size_t p = 0; !mine.empty() && p < split.reducing.pieces.size(); ++p)
    for (size_t r = 0; r < mine.size(); ++r) {
      const size_t position = list.entries[split.reducing.pieces[p].entry].position;
      double &sum = mine[r].keep == Reduction::Keep::Tensor
                        ? perTensor[(first + r) * sizes.size() + position]
                        : totals.reduced[first + r];
      sum = combine(mine[r].kind, sum, partials[p * mine.size() + r]);
    }
}

} // namespace fw::launch
