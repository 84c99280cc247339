#include "runtime/launch/Axes.h"

#include "runtime/launch/Layout.h"

#include <algorithm>

namespace fw::launch {

namespace {

constexpr uint32_t rowAxis = 0;        // of an op over rows
constexpr int64_t unknown = INT64_MIN; // a length

/// One list entry: each tensor binds the lengths that are not known yet, and agrees with the
/// others.
class EntryReader {
public:
  EntryReader(const Header &header, const AxisTable &table)
      : header(header), table(table), lengths(table.names.size(), unknown),
        boundBy(table.names.size()) {}

  Result<void> read(const Operand &operand, std::span<const uint32_t> axes, const fw_tensor &tensor,
                    Place place) {
    if (!operand.present)
      return checkAbsent(tensor);
    if (Result<void> fields = checkFields(operand, tensor, place); !fields)
      return fields;
    const std::span<const int64_t> shape(tensor.shape, size_t(tensor.rank));
    Result<int64_t> elements = countElements(shape);
    if (!elements)
      return elements.takeError();
    if (Result<void> memory = checkMemory(operand, tensor, *elements); !memory)
      return memory;
    return bindAll(operand, axes, shape);
  }

  Lengths takeLengths() {
    std::ranges::replace(lengths, unknown, 0); // of an operand that is not passed
    return std::move(lengths);
  }

private:
  Result<void> bindAll(const Operand &operand, std::span<const uint32_t> axes,
                       std::span<const int64_t> shape) {
    const bool hasRows = header.isRows && std::ranges::find(axes, rowAxis) != axes.end();
    const size_t least = axes.size() - hasRows;
    if (shape.size() < least || (!hasRows && shape.size() != least))
      return wrongRank(operand, shape, hasRows);
    size_t dimension = 0;
    for (uint32_t axis : axes) {
      const size_t taken = hasRows && axis == rowAxis ? shape.size() - least : 1;
      Result<int64_t> length = countElements(shape.subspan(dimension, taken));
      if (!length)
        return length.takeError();
      dimension += taken;
      if (Result<void> bound = bind(operand, axis, *length, shape); !bound)
        return bound;
    }
    return {};
  }

  Result<void> bind(const Operand &operand, uint32_t axis, int64_t length,
                    std::span<const int64_t> shape) {
    if (axis == AxisTable::one)
      return length == 1 ? Result<void>() : notOne(operand, shape);
    if (lengths[axis] == unknown) {
      lengths[axis] = length;
      boundBy[axis] = &operand;
    }
    return lengths[axis] == length ? Result<void>() : otherLength(operand, axis, length, shape);
  }

  static Error notOne(const Operand &operand, std::span<const int64_t> shape) {
    return {Code::USAGE,
            "expected size 1 where axis 1 stands in " + axesText(operand) + ", got shape " +
                printSizes(shape),
            "pass one place, it is used for all"};
  }

  Error otherLength(const Operand &operand, uint32_t axis, int64_t length,
                    std::span<const int64_t> shape) const {
    return {Code::USAGE,
            "expected " + std::to_string(lengths[axis]) + " along axis '" + table.names[axis] +
                "' as operand '" + boundBy[axis]->name + "' has, got shape " + printSizes(shape) +
                " for " + axesText(operand),
            length == 1 ? "expand the tensor (stride 0), or write 1 for the axis in the op"
                        : "pass tensors whose axes are of one length"};
  }

  static std::string axesText(const Operand &operand) {
    std::string out;
    for (const std::string &axis : operand.axes)
      out += (out.empty() ? "[" : ", ") + axis;
    return out + "]";
  }

  static Error wrongRank(const Operand &operand, std::span<const int64_t> shape, bool hasRows) {
    return {Code::USAGE,
            "expected a tensor with the axes " + axesText(operand) + ", got shape " +
                printSizes(shape),
            hasRows ? "any number of dimensions is the axis row, the others have one each"
                    : "pass a dimension for each axis"};
  }

  const Header &header;
  const AxisTable &table;
  Lengths lengths;
  llvm::SmallVector<const Operand *, 4> boundBy; ///< for messages
};

std::vector<std::string> namesOf(const Header &header, std::span<const Operand> operands) {
  std::vector<std::string> names = header.axes;
  for (const Operand &operand : operands)
    for (const std::string &axis : operand.present ? operand.axes : std::vector<std::string>())
      if (axis != "1" && std::ranges::find(names, axis) == names.end())
        names.push_back(axis);
  return names;
}

bool hasAxes(const Operand &operand) {
  return operand.scope == Scope::Element || operand.scope == Scope::Axes;
}

} // namespace

AxisTable::AxisTable(const Header &header, std::span<const Operand> operands)
    : names(namesOf(header, operands)) {
  for (const Operand &operand : operands) {
    std::vector<uint32_t> &numbers = ofOperands.emplace_back();
    for (const std::string &axis : operand.axes)
      numbers.push_back(axis == "1" ? one
                                    : uint32_t(std::ranges::find(names, axis) - names.begin()));
  }
}

Result<AxisList> readAxes(const Header &header, const AxisTable &table,
                          std::span<const Operand> operands, const TensorArray &tensors,
                          Place place) {
  Result<ArrayOrder> order = ArrayOrder::ofCount(operands, tensors.size());
  if (!order)
    return order.takeError();
  AxisList list;
  auto named = [&](size_t tensor, Error error) {
    error.text = order->name(tensor) + ": " + error.text;
    return error;
  };
  for (size_t position = 0; position < order->length(); ++position) {
    EntryReader entry(header, table);
    for (size_t k = 0; k < operands.size(); ++k) {
      const size_t tensor = order->index(position, k);
      if (operands[k].scope == Scope::All && position != 0)
        continue;
      Result<void> read = hasAxes(operands[k])
                              ? entry.read(operands[k], table.ofOperands[k], tensors[tensor], place)
                              : checkUniform(operands[k], tensors[tensor], place);
      if (!read)
        return named(tensor, read.takeError());
    }
    list.extents.push_back(entry.takeLengths());
    // Rows of one operand and columns of another may make more places than any memory has.
    const std::span<const int64_t> lengths(list.extents.back().data(), header.axes.size());
    if (Result<int64_t> places = countElements(lengths); !places)
      return places.takeError();
  }
  return list;
}

} // namespace fw::launch
