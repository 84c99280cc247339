#include "runtime/launch/Rows.h"

#include "compiler/support/FloatMode.h"
#include "runtime/launch/Axes.h"
#include "runtime/launch/Layout.h"
#include "runtime/launch/Work.h"

#include <algorithm>

namespace fw::launch {

namespace {

/// One operand of an entry: how far apart its rows are along each axis in front.
struct RowOperand {
  struct Dimension {
    int64_t size, byteStride;
  };
  char *data = nullptr;
  std::vector<std::vector<Dimension>> axes; ///< by header axis in front of the row; slowest first

  /// A place on an axis of several dimensions counts them row-major.
  int64_t offset(std::span<const int64_t> index) const {
    int64_t bytes = 0;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      int64_t rest = index[axis];
      for (size_t d = axes[axis].size(); d-- > 0;) {
        const Dimension &dimension = axes[axis][d];
        const bool isSlowest = d == 0;
        bytes += (isSlowest ? rest : rest % dimension.size) * dimension.byteStride;
        rest = isSlowest ? 0 : rest / dimension.size;
      }
    }
    return bytes;
  }

  /// The bytes that all rows touch lie in [first, second).
  std::pair<const char *, const char *> range(int64_t rowBytes) const {
    int64_t low = 0, high = rowBytes;
    for (const std::vector<Dimension> &axis : axes)
      for (const Dimension &dimension : axis)
        (dimension.byteStride < 0 ? low : high) += (dimension.size - 1) * dimension.byteStride;
    return {data + low, data + high};
  }
};

bool operator==(const RowOperand::Dimension &a, const RowOperand::Dimension &b) {
  return a.size == b.size && (a.size <= 1 || a.byteStride == b.byteStride);
}

/// A list entry made ready.
class RowEntry {
public:
  RowEntry(const Program &program, std::span<const int64_t> extents)
      : program(program), outer(program.header.axes.size() - 1),
        extents(extents.begin(), extents.end()), columns(extents[outer]) {
    for (size_t axis = 0; axis < outer; ++axis)
      rows *= extents[axis];
  }

  int64_t rows = 1;

  Result<void> add(size_t k, const fw_tensor &tensor) {
    RowOperand &added = operands.emplace_back();
    const Operand &operand = program.operands[k];
    if (!operand.present)
      return {};
    added.data = static_cast<char *>(tensor.data);
    added.axes.resize(outer);
    size_t dimension = 0;
    for (const std::string &name : operand.axes) {
      const bool isRow = program.header.isRows && name == "row";
      const size_t taken = isRow ? size_t(tensor.rank) + 1 - operand.axes.size() : 1;
      for (size_t d = dimension; d < dimension + taken; ++d)
        if (Result<void> placed = place(added, operand, name, tensor, d); !placed)
          return placed;
      dimension += taken;
    }
    return {};
  }

  /// Written memory is shared with nothing but, element by element, with what is only read.
  Result<void> checkSharing() const {
    for (size_t a = 0; a < operands.size(); ++a)
      for (size_t b = 0; b < operands.size(); ++b)
        if (a != b && program.operands[a].written && shares(a, b))
          return Error{Code::USAGE,
                       "expected memory of its own for written operand '" +
                           program.operands[a].name + "', got some that '" +
                           program.operands[b].name + "' has too",
                       "pass other memory, or the very tensor that is only read, with its strides"};
    return {};
  }

  size_t axesInFront() const { return outer; }

  /// Runs rows [first, last). `index` and `pointers` have room for the axes in front and the
  /// kernel's operands: threads allocate nothing.
  void run(const Kernel &kernel, const void *scalars, int64_t first, int64_t last,
           std::span<int64_t> index, std::span<const void *> pointers) const {
    for (int64_t row = first; row < last; ++row) {
      int64_t rest = row;
      for (size_t axis = outer; axis-- > 0;) {
        index[axis] = rest % extents[axis];
        rest /= extents[axis];
      }
      for (size_t c = 0; c < pointers.size(); ++c) {
        const RowOperand &operand = operands[kernel.operands[c]];
        pointers[c] = operand.data ? operand.data + operand.offset(index) : nullptr;
      }
      // A kernel over rows reads the place of its row where others add what they reduce.
      kernel.function(pointers.data(), 0, columns, scalars,
                      reinterpret_cast<double *>(index.data()));
    }
  }

private:
  int64_t stride(const fw_tensor &tensor, size_t d) const {
    if (tensor.strides)
      return tensor.strides[d];
    int64_t dense = 1;
    for (size_t after = d + 1; after < size_t(tensor.rank); ++after)
      dense *= tensor.shape[after];
    return dense;
  }

  Result<void> place(RowOperand &added, const Operand &operand, const std::string &axis,
                     const fw_tensor &tensor, size_t d) const {
    const int64_t size = tensor.shape[d], apart = stride(tensor, d);
    const size_t number =
        size_t(std::ranges::find(program.header.axes, axis) - program.header.axes.begin());
    if (number < outer) {
      added.axes[number].push_back({size, apart * int64_t(operand.bytes)});
      return {};
    }
    if (axis == "1" || size <= 1 || apart == 1)
      return {};
    return Error{Code::USAGE,
                 "expected stride 1 along axis '" + axis + "', which a row spans, got " +
                     std::to_string(apart),
                 "make the tensor contiguous"};
  }

  bool spans(size_t k) const {
    const std::vector<std::string> &axes = program.operands[k].axes;
    return std::ranges::find(axes, program.header.axes[outer]) != axes.end();
  }
  int64_t rowBytes(size_t k) const {
    return (spans(k) ? columns : 1) * int64_t(program.operands[k].bytes);
  }

  bool shares(size_t a, size_t b) const {
    if (!operands[a].data || !operands[b].data || rows == 0 || columns == 0)
      return false;
    const auto [aBegin, aEnd] = operands[a].range(rowBytes(a));
    const auto [bBegin, bEnd] = operands[b].range(rowBytes(b));
    if (aEnd <= bBegin || bEnd <= aBegin)
      return false;
    const bool isSame = operands[a].data == operands[b].data && rowBytes(a) == rowBytes(b) &&
                        program.operands[a].bytes == program.operands[b].bytes &&
                        program.operands[a].axes == program.operands[b].axes &&
                        operands[a].axes == operands[b].axes && !program.operands[b].written &&
                        !program.header.swaps;
    return !isSame;
  }

  const Program &program;
  size_t outer; ///< axes in front of the row's
  std::vector<int64_t> extents;
  int64_t columns;
  std::vector<RowOperand> operands; ///< as in the program
};

/// A row of the scalar program's results, as the kernel reads them.
std::vector<double> slotsOf(const Stage &stage, std::span<const double> hypers,
                            std::span<const int64_t> extents, size_t position) {
  StandardFloatMode mode;
  using Input = jit::ScalarInput;
  const jit::ScalarProgram &scalars = stage.scalars;
  double elements = 1;
  for (int64_t extent : extents)
    elements *= double(extent);
  std::vector<double> inputs, values(scalars.valueCount()), table(scalars.slots.size() + 1);
  for (const Input &input : scalars.inputs)
    inputs.push_back(input.kind == Input::Kind::Hyper || input.kind == Input::Kind::Step
                         ? hypers[input.index]
                     : input.kind == Input::Kind::AxisSize
                         ? input.index < extents.size() ? double(extents[input.index]) : 0
                     : input.kind == Input::Kind::TensorIndex ? double(position)
                                                              : elements);
  jit::runAll(scalars, inputs.data(), values.data());
  for (size_t slot = 0; slot < scalars.slots.size(); ++slot)
    if (double value = values[scalars.slots[slot]]; stage.kernel->doubleScalars)
      table[slot] = value;
    else
      reinterpret_cast<float *>(table.data())[slot] = float(value);
  return table;
}

/// Whether the scalar program asks for what a launch over rows does not know.
bool asksForAll(const Stage &stage) {
  return std::ranges::any_of(stage.scalars.inputs, [](const jit::ScalarInput &input) {
    return input.kind == jit::ScalarInput::Kind::AllSize;
  });
}

/// Rows of a share: as much memory as a share of elements has.
int64_t rowsOfShare(const Program &program, int64_t columns) {
  const int64_t bytes = std::max<int64_t>(bytesPerElement(program.operands) * columns, 1);
  return std::max<int64_t>(shareBytes / 4 / bytes, 1);
}

/// Every entry made ready; of written memory that is shared nothing is run.
Result<std::vector<RowEntry>> makeEntries(const Program &program, const TensorArray &tensors,
                                          const AxisList &list) {
  Result<ArrayOrder> order = ArrayOrder::ofCount(program.operands, tensors.size());
  if (!order)
    return order.takeError();
  std::vector<RowEntry> entries;
  for (size_t position = 0; position < list.extents.size(); ++position) {
    RowEntry &entry = entries.emplace_back(program, list.extents[position]);
    for (size_t k = 0; k < program.operands.size(); ++k)
      if (Result<void> added = entry.add(k, tensors[order->index(position, k)]); !added) {
        Error error = added.takeError();
        error.text = order->name(order->index(position, k)) + ": " + error.text;
        return error;
      }
    if (Result<void> apart = entry.checkSharing(); !apart)
      return apart.takeError();
  }
  return entries;
}

/// Shares of rows, each with room of its own for what its rows are addressed by.
void runEntry(const RowEntry &entry, const Kernel &kernel, const void *scalars, int64_t step,
              const Executor &executor) {
  const size_t shares = size_t((entry.rows + step - 1) / step);
  const size_t outer = entry.axesInFront(), columns = kernel.operands.size();
  std::vector<int64_t> index(shares * outer);
  std::vector<const void *> pointers(shares * columns);
  auto share = [&](size_t s) {
    entry.run(kernel, scalars, int64_t(s) * step, std::min(entry.rows, int64_t(s + 1) * step),
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
  Result<AxisList> list = readAxes(program.header, program.operands, tensors);
  if (!list)
    return list.takeError();
  Result<ScalarRows> given = readScalars(program.hypers, scalars, list->extents.size());
  if (!given)
    return given.takeError();
  if (program.stages.size() != 1 || !program.stages.front().kernel)
    return Error{Code::INTERNAL, "expected a program over rows of one kernel, got another",
                 "please report it with the op's text"};
  const Stage &stage = program.stages.front();
  if (asksForAll(stage) && list->extents.size() != 1)
    return Error{Code::USAGE,
                 "expected one list entry for an op over rows with size(all), got " +
                     std::to_string(list->extents.size()),
                 "launch the entries one by one"};
  auto entries = makeEntries(program, tensors, *list);
  if (!entries)
    return entries.takeError();
  for (size_t position = 0; position < entries->size(); ++position) {
    const std::vector<int64_t> &extents = list->extents[position];
    const std::vector<double> table =
        slotsOf(stage, given->row(given->rowOf(position)), extents, position);
    const int64_t step = rowsOfShare(program, extents[program.header.axes.size() - 1]);
    runEntry((*entries)[position], *stage.kernel, table.data(), step, executor);
  }
  return {};
}

} // namespace fw::launch
