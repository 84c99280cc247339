#include "runtime/launch/RowEntries.h"

#include "compiler/support/FloatMode.h"
#include "runtime/launch/Layout.h"
#include "runtime/launch/RowOverlap.h"

#include <algorithm>

namespace fw::launch {

int64_t RowOperand::offset(std::span<const int64_t> index) const {
  int64_t bytes = 0, rest = 0;
  for (size_t d = dimensions.size(); d-- > 0;) {
    const Dimension &dimension = dimensions[d];
    if (d + 1 == dimensions.size() || dimensions[d + 1].axis != dimension.axis)
      rest = index[dimension.axis];
    const bool isSlowest = d == 0 || dimensions[d - 1].axis != dimension.axis;
    bytes += (isSlowest ? rest : rest % dimension.size) * dimension.byteStride;
    rest = isSlowest ? 0 : rest / dimension.size;
  }
  return bytes;
}

RowEntry::RowEntry(const Program &program, const Lengths &extents, size_t position)
    : program(program), number(position), outer(program.header.axes.size() - 1), extents(extents) {
  for (size_t axis = 0; axis < outer; ++axis)
    rowCount *= extents[axis];
  operands.reserve(program.operands.size());
}

Result<void> RowEntry::add(size_t k, const fw_tensor &tensor) {
  RowOperand &added = operands.emplace_back();
  const Operand &operand = program.operands[k];
  if (!operand.present)
    return {};
  added.data = static_cast<char *>(tensor.data);
  added.rowBytes = operand.bytes;
  const std::span<const uint32_t> axes = program.axes.ofOperands[k];
  size_t dimension = 0;
  for (uint32_t axis : axes) {
    const bool isRow = program.header.isRows && axis == 0;
    const size_t taken = isRow ? size_t(tensor.rank) + 1 - axes.size() : 1;
    for (size_t d = dimension; d < dimension + taken; ++d)
      if (Result<void> placed = place(added, operand, axis, tensor, d); !placed)
        return placed;
    dimension += taken;
    added.spans |= axis == outer;
  }
  auto repeats = [](const RowOperand::Dimension &dimension) {
    return dimension.size > 1 && dimension.byteStride == 0;
  };
  if (operand.written && columns() > 0 && std::ranges::any_of(added.dimensions, repeats))
    return Error{Code::USAGE,
                 "expected a place of its own for each row that is written, got stride 0",
                 "pass a tensor that is not expanded"};
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

Result<void> RowEntry::place(RowOperand &added, const Operand &operand, uint32_t axis,
                             const fw_tensor &tensor, size_t d) const {
  const int64_t size = tensor.shape[d], apart = strideOf(tensor, d);
  if (axis == AxisTable::one)
    return {};
  if (axis < outer) {
    auto isBehind = [](uint32_t axis, const auto &other) { return axis < other.axis; };
    auto behind =
        std::upper_bound(added.dimensions.begin(), added.dimensions.end(), axis, isBehind);
    added.dimensions.insert(behind, {size, apart * int64_t(operand.bytes), axis});
    return {};
  }
  added.rowBytes *= size;
  if (size <= 1 || apart == 1)
    return {};
  return Error{Code::USAGE,
               "expected stride 1 along axis '" + program.axes.names[axis] +
                   "', which a row spans, got " + std::to_string(apart),
               "make the tensor contiguous"};
}

/// Every entry made ready; of written memory that is shared nothing is run.
static Result<RowEntries> makeEntries(const Program &program, const TensorArray &tensors,
                                      const AxisList &list) {
  Result<ArrayOrder> order = ArrayOrder::ofCount(program.operands, tensors.size());
  if (!order)
    return order.takeError();
  RowEntries entries;
  entries.reserve(list.extents.size());
  for (size_t position = 0; position < list.extents.size(); ++position) {
    RowEntry &entry = entries.emplace_back(program, list.extents[position], position);
    for (size_t k = 0; k < program.operands.size(); ++k)
      if (Result<void> added = entry.add(k, tensors[order->index(position, k)]); !added) {
        Error error = added.takeError();
        error.text = order->name(order->index(position, k)) + ": " + error.text;
        return error;
      }
  }
  if (Result<void> apart = checkRowOverlap(program, entries); !apart)
    return apart.takeError();
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
  Result<AxisList> list = readAxes(program.header, program.axes, program.operands, tensors, place);
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

RowSlots rowSlots(const Stage &stage, std::span<const double> hypers, const RowEntry &entry) {
  RowSlots slots;
  if (stage.scalars.slots.empty())
    return slots;
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
  RowSlots inputs, values(scalars.valueCount());
  for (const Input &input : scalars.inputs)
    inputs.push_back(valueOf(input));
  jit::runAll(scalars, inputs.data(), values.data());
  for (uint32_t slot : scalars.slots)
    slots.push_back(values[slot]);
  return slots;
}

} // namespace fw::launch
