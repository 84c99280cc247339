#include "runtime/launch/RowEntries.h"

#include "compiler/support/FloatMode.h"
#include "runtime/launch/Layout.h"

#include <algorithm>

namespace fw::launch {

int64_t RowOperand::offset(std::span<const int64_t> index) const {
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

std::pair<const char *, const char *> RowOperand::range(int64_t rowBytes) const {
  int64_t low = 0, high = rowBytes;
  for (const std::vector<Dimension> &axis : axes)
    for (const Dimension &dimension : axis)
      (dimension.byteStride < 0 ? low : high) += (dimension.size - 1) * dimension.byteStride;
  return {data + low, data + high};
}

RowEntry::RowEntry(const Program &program, std::span<const int64_t> extents, size_t position)
    : program(program), number(position), outer(program.header.axes.size() - 1),
      extents(extents.begin(), extents.end()), columnCount(extents[outer]) {
  for (size_t axis = 0; axis < outer; ++axis)
    rowCount *= extents[axis];
}

Result<void> RowEntry::add(size_t k, const fw_tensor &tensor) {
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

Result<void> RowEntry::checkSharing() const {
  for (size_t a = 0; a < operands.size(); ++a)
    for (size_t b = 0; b < operands.size(); ++b)
      if (a != b && program.operands[a].written && shares(a, b))
        return Error{Code::USAGE,
                     "expected memory of its own for written operand '" + program.operands[a].name +
                         "', got some that '" + program.operands[b].name + "' has too",
                     "pass other memory, or the very tensor that is only read, with its strides"};
  return {};
}

static int64_t strideOf(const fw_tensor &tensor, size_t d) {
  if (tensor.strides)
    return tensor.strides[d];
  int64_t dense = 1;
  for (size_t after = d + 1; after < size_t(tensor.rank); ++after)
    dense *= tensor.shape[after];
  return dense;
}

Result<void> RowEntry::place(RowOperand &added, const Operand &operand, const std::string &axis,
                             const fw_tensor &tensor, size_t d) const {
  const int64_t size = tensor.shape[d], apart = strideOf(tensor, d);
  const size_t axisNumber =
      size_t(std::ranges::find(program.header.axes, axis) - program.header.axes.begin());
  if (axisNumber < outer) {
    added.axes[axisNumber].push_back({size, apart * int64_t(operand.bytes)});
    return {};
  }
  if (axis == "1" || size <= 1 || apart == 1)
    return {};
  return Error{Code::USAGE,
               "expected stride 1 along axis '" + axis + "', which a row spans, got " +
                   std::to_string(apart),
               "make the tensor contiguous"};
}

bool RowEntry::spans(size_t k) const {
  const std::vector<std::string> &axes = program.operands[k].axes;
  return std::ranges::find(axes, program.header.axes[outer]) != axes.end();
}

int64_t RowEntry::rowBytes(size_t k) const {
  return (spans(k) ? columnCount : 1) * int64_t(program.operands[k].bytes);
}

bool RowEntry::shares(size_t a, size_t b) const {
  if (!operands[a].data || !operands[b].data || rowCount == 0 || columnCount == 0)
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

Result<std::vector<RowEntry>> makeEntries(const Program &program, const TensorArray &tensors,
                                          const AxisList &list) {
  Result<ArrayOrder> order = ArrayOrder::ofCount(program.operands, tensors.size());
  if (!order)
    return order.takeError();
  std::vector<RowEntry> entries;
  entries.reserve(list.extents.size());
  for (size_t position = 0; position < list.extents.size(); ++position) {
    RowEntry &entry = entries.emplace_back(program, list.extents[position], position);
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

/// Whether the scalar program asks for what a launch over rows does not know.
static bool asksForAll(const Stage &stage) {
  return std::ranges::any_of(stage.scalars.inputs, [](const jit::ScalarInput &input) {
    return input.kind == jit::ScalarInput::Kind::AllSize;
  });
}

Result<RowsInput> readRows(const Program &program, const TensorArray &tensors,
                           const ScalarArray &scalars, Place place) {
  Result<AxisList> list = readAxes(program.header, program.operands, tensors, place);
  if (!list)
    return list.takeError();
  Result<ScalarRows> given = readScalars(program.hypers, scalars, list->extents.size());
  if (!given)
    return given.takeError();
  if (program.stages.size() != 1 || !program.stages.front().kernel)
    return Error{Code::INTERNAL, "expected a program over rows of one kernel, got another",
                 "please report it with the op's text"};
  if (asksForAll(program.stages.front()) && list->extents.size() != 1)
    return Error{Code::USAGE,
                 "expected one list entry for an op over rows with size(all), got " +
                     std::to_string(list->extents.size()),
                 "launch the entries one by one"};
  auto entries = makeEntries(program, tensors, *list);
  if (!entries)
    return entries.takeError();
  return RowsInput{std::move(*entries), std::move(*given)};
}

std::vector<double> rowSlots(const Stage &stage, std::span<const double> hypers,
                             const RowEntry &entry) {
  StandardFloatMode mode;
  using Input = jit::ScalarInput;
  const jit::ScalarProgram &scalars = stage.scalars;
  const std::span<const int64_t> lengths = entry.lengths();
  auto valueOf = [&](const Input &input) {
    switch (input.kind) {
    case Input::Kind::Hyper:
    case Input::Kind::Step:
      return hypers[input.index];
    case Input::Kind::AxisSize:
      return input.index < lengths.size() ? double(lengths[input.index]) : 0.0;
    case Input::Kind::TensorIndex:
      return double(entry.position());
    default:
      return double(entry.rows()) * double(entry.columns());
    }
  };
  std::vector<double> inputs, values(scalars.valueCount()), slots;
  for (const Input &input : scalars.inputs)
    inputs.push_back(valueOf(input));
  jit::runAll(scalars, inputs.data(), values.data());
  for (uint32_t slot : scalars.slots)
    slots.push_back(values[slot]);
  return slots;
}

} // namespace fw::launch
