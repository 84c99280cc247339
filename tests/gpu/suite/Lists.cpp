#include "tests/gpu/suite/Lists.h"

#include <algorithm>
#include <numeric>

namespace suite {

int64_t EntrySpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

const Sizes &EntrySpec::stridesOf(const OperandInfo &operand) const {
  return operand.written || readStrides.empty() ? strides : readStrides;
}

Sizes dense(const Sizes &shape, const std::vector<size_t> &order) {
  Sizes strides(shape.size());
  int64_t next = 1;
  for (size_t place = order.size(); place-- > 0;) {
    strides[order[place]] = next;
    next *= shape[order[place]];
  }
  return strides;
}

Sizes rowMajor(const Sizes &shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t(0));
  return dense(shape, order);
}

List vectors(const Sizes &sizes, uint64_t offByOne) {
  List list;
  for (int64_t size : sizes)
    list.push_back({.shape = {size}, .offByOne = offByOne});
  return list;
}

namespace {

constexpr uint64_t everyOperand = ~uint64_t(0);

/// `count` tensors of 1, 2, 3 ... elements, every seventh of them empty.
List manyTensors(int64_t count) {
  Sizes sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(i % 7 == 6 ? 0 : i + 1);
  return vectors(sizes);
}

void addLengths(std::vector<NamedList> &lists, const Kernel &kernel) {
  const int64_t v = kernel.vector, chunk = kernel.chunk;
  lists.push_back({"one element", vectors({1})});
  lists.push_back({"a vector", vectors({v})});
  lists.push_back({"around a vector", vectors({v - 1, v + 1, 2 * v + 1})});
  lists.push_back({"one short of a chunk", vectors({chunk - 1})});
  lists.push_back({"a chunk and one", vectors({chunk + 1, 5})});
  if (!isQuick())
    lists.push_back({"chunks", vectors({chunk, 2 * chunk + v + 1})});
}

void addPlaces(std::vector<NamedList> &lists, const Kernel &kernel) {
  const int64_t v = kernel.vector;
  lists.push_back({"empty first", vectors({0, 3, 4 * v + 1})});
  lists.push_back({"empty middle and last", vectors({5, 0, 2 * v, 0, 0})});
  lists.push_back({"all one off", vectors({1, v - 1, v, 9 * v + 3}, everyOperand)});
  lists.push_back({"first operand one off", vectors({8 * v + 3}, 1)});
  lists.push_back({"second operand one off", vectors({8 * v + 3}, 2)});
  if (!isQuick())
    lists.push_back({"a chunk one off", vectors({kernel.chunk + v + 1}, everyOperand)});
  lists.push_back({"nine tensors", manyTensors(9)});
  lists.push_back({"forty-one tensors", manyTensors(41)});
}

} // namespace

std::vector<NamedList> layoutLists(const Kernel &kernel) {
  std::vector<NamedList> lists;
  const Sizes image = {2, 3, 4, 5}, volume = {2, 3, 2, 4, 5}, matrix = {11, 7};
  lists.push_back({"a scalar", {{.shape = {}}}});
  lists.push_back({"channels last", {{image, dense(image, {0, 2, 3, 1})}}});
  lists.push_back({"channels last in 3-d", {{volume, dense(volume, {0, 2, 3, 4, 1})}}});
  lists.push_back({"transposed", {{matrix, dense(matrix, {1, 0})}}});
  lists.push_back({"rows of a wider matrix", {{matrix, {10, 1}}}});
  lists.push_back(
      {"rows one off", {{.shape = matrix, .strides = {9, 1}, .offByOne = everyOperand}}});
  lists.push_back({"read rows lie wider", {{matrix, {7, 1}, {16, 1}}}});
  const bool writesElements = std::ranges::any_of(
      kernel.operands, [](const auto &each) { return each.isElement() && each.written; });
  if (writesElements) // what all others are only read beside
    lists.push_back({"read rows are expanded", {{matrix, {7, 1}, {0, 1}}}});
  lists.push_back({"strides of ones", {{{2, 1, 100}, {100, 100, 1}, {100, 1, 1}}}});
  const int64_t wide = isQuick() ? 40 : kernel.chunk / 16 + 3;
  lists.push_back({"many rows", {{{20, wide}, {wide + 5, 1}}, {.shape = {3}}}});
  return lists;
}

std::vector<NamedList> allLists(const Kernel &kernel) {
  std::vector<NamedList> lists;
  addLengths(lists, kernel);
  addPlaces(lists, kernel);
  for (NamedList &list : layoutLists(kernel))
    lists.push_back(std::move(list));
  return lists;
}

} // namespace suite
