#include "runtime/launch/Layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fw::launch {

Result<int64_t> countElements(std::span<const int64_t> shape) {
  // Zero first: the product of the other sizes does not matter then.
  for (int64_t size : shape)
    if (size < 0)
      return Error{Code::USAGE, "expected sizes >= 0, got shape " + printSizes(shape),
                   "pass the number of elements of each dimension"};
  if (std::ranges::find(shape, 0) != shape.end())
    return int64_t(0);
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      return Error{Code::USAGE, "expected fewer than 2^63 elements, got shape " + printSizes(shape),
                   "pass the tensor's own shape"};
  return count;
}

std::string printSizes(std::span<const int64_t> sizes) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    out += (i ? ", " : "") + std::to_string(sizes[i]);
  return out + "]";
}

Dimensions significantDimensions(const fw_tensor &tensor) {
  Dimensions result;
  int64_t dense = 1;
  for (int32_t d = tensor.rank; d-- > 0;) {
    if (tensor.shape[d] != 1) {
      result.shape.push_back(tensor.shape[d]);
      result.strides.push_back(tensor.strides ? tensor.strides[d] : dense);
    }
    dense *= tensor.shape[d];
  }
  std::ranges::reverse(result.shape);
  std::ranges::reverse(result.strides);
  return result;
}

namespace {

/// Expanded dimensions (stride 0) are the slowest: what they repeat stays contiguous.
std::vector<size_t> slowestFirst(const Dimensions &reference) {
  std::vector<size_t> order(reference.shape.size());
  std::iota(order.begin(), order.end(), 0);
  auto pace = [&](size_t d) {
    const int64_t stride = reference.strides[d];
    return stride == 0 ? std::numeric_limits<int64_t>::max() : std::abs(stride);
  };
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const int64_t first = pace(a), second = pace(b);
    return first != second ? first > second : a < b;
  });
  return order;
}

/// True when no two elements can share memory, judged from the fastest dimension outwards.
bool isInjective(const Dimensions &dimensions, const std::vector<size_t> &order) {
  int64_t reach = 0;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t stride = std::abs(dimensions.strides[order[i]]);
    int64_t span;
    if (stride <= reach || __builtin_mul_overflow(stride, dimensions.shape[order[i]] - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return false;
  }
  return true;
}

/// Appends dimension `d` to the loops (in elements), or merges it with the last one: (i, j) is one
/// loop when a step of i is as long as all of j, in every operand.
void append(std::vector<Loop> &loops, const std::vector<Dimensions> &all, size_t d) {
  int64_t extent = all.front().shape[d];
  bool merges = !loops.empty();
  for (size_t k = 0; merges && k < all.size(); ++k)
    merges = loops.back().byteStrides[k] == all[k].strides[d] * extent;
  if (!merges)
    loops.push_back({.extent = 1, .byteStrides = std::vector<int64_t>(all.size())});
  loops.back().extent *= extent;
  for (size_t k = 0; k < all.size(); ++k)
    loops.back().byteStrides[k] = all[k].strides[d];
}

Error notContiguous(std::span<const Operand> operands, const std::vector<Dimensions> &all,
                    size_t reference, size_t operand, const std::string &name) {
  std::string who = name + ": expected ";
  std::string got =
      ", got " + printSizes(all[operand].strides) + " for shape " + printSizes(all[operand].shape);
  if (std::ranges::find(all[operand].strides, 1) == all[operand].strides.end())
    return Error{Code::USAGE, who + "a dimension of stride 1" + got, "pass a dense copy"};
  return Error{Code::USAGE,
               who + "strides of the same meaning as " + printSizes(all[reference].strides) +
                   " of " + operands[reference].name + got,
               "pass a copy with the layout of the other operands"};
}

/// The operand that decides the order of the loops: the first written one, else the first.
size_t referenceOf(std::span<const Operand> operands) {
  auto found = std::ranges::find_if(
      operands, [](const Operand &operand) { return operand.hasElements() && operand.written; });
  if (found == operands.end())
    found = std::ranges::find_if(operands, &Operand::hasElements);
  return size_t(found - operands.begin());
}

} // namespace

Result<Entry> findLoops(std::span<const Operand> operands, std::vector<Dimensions> all,
                        const ArrayOrder &order, size_t position) {
  const size_t reference = referenceOf(operands);
  // An operand without elements follows the reference, so that it hinders no merge.
  for (size_t k = 0; k < operands.size(); ++k)
    if (!operands[k].hasElements())
      all[k] = all[reference];
  auto name = [&](size_t k) { return order.name(order.index(position, k)); };

  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].hasElements() && operands[k].written &&
        !isInjective(all[k], slowestFirst(all[k])))
      return Error{Code::USAGE,
                   name(k) + ": expected elements that do not share memory, got strides " +
                       printSizes(all[k].strides) + " for shape " + printSizes(all[k].shape),
                   "pass a copy: a written operand may not be an expanded view"};

  std::vector<Loop> loops;
  for (size_t d : slowestFirst(all[reference]))
    append(loops, all, d);

  Entry entry;
  entry.run = 1;
  if (!loops.empty()) {
    // The reference first: the others are compared with it.
    if (loops.back().byteStrides[reference] != 1)
      return notContiguous(operands, all, reference, reference, name(reference));
    for (size_t k = 0; k < operands.size(); ++k)
      if (loops.back().byteStrides[k] != 1)
        return notContiguous(operands, all, reference, k, name(k));
    entry.run = loops.back().extent;
    loops.pop_back();
  }
  entry.elements = entry.run;
  for (Loop &loop : loops) {
    entry.elements *= loop.extent;
    for (size_t k = 0; k < operands.size(); ++k)
      loop.byteStrides[k] *= operands[k].bytes;
  }
  entry.loops = std::move(loops);
  return entry;
}

int64_t runOffset(const Entry &entry, int64_t run, size_t operand) {
  int64_t offset = 0;
  for (size_t l = entry.loops.size(); l-- > 0;) {
    offset += run % entry.loops[l].extent * entry.loops[l].byteStrides[operand];
    run /= entry.loops[l].extent;
  }
  return offset;
}

} // namespace fw::launch
