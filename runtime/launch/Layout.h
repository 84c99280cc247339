// Dimensions of one list entry: from shapes and strides to few loops around contiguous runs.
#pragma once

#include "runtime/launch/Tensors.h"

namespace fw::launch {

/// Elements of a shape; USAGE when a size is negative or the product leaves int64.
Result<int64_t> countElements(std::span<const int64_t> shape);

/// "[3, 4]".
std::string printSizes(std::span<const int64_t> sizes);

/// A tensor's shape and strides with the dimensions of size 1 left out; dense row-major strides
/// where the caller gave none.
struct Dimensions {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};
Dimensions significantDimensions(const fw_tensor &tensor);

/// The dimensions of all operands of an entry that have elements (`all` and `operands` run in step;
/// the shapes are equal), ordered by the strides of a written operand and merged where every
/// operand allows it. `order` and `position` are for messages.
Result<Entry> findLoops(std::span<const Operand> operands, std::vector<Dimensions> all,
                        const ArrayOrder &order, size_t position);

/// Bytes from an operand's address to run number `run` of its entry.
int64_t runOffset(const Entry &entry, int64_t run, size_t operand);

} // namespace fw::launch
