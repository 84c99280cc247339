// Lists of tensors that the suite runs over: shapes and layouts, before any memory.
#pragma once

#include "tests/gpu/suite/Kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace suite {

using Sizes = std::vector<int64_t>;

/// One entry of a list.
struct EntrySpec {
  Sizes shape;
  Sizes strides = {};     ///< of every operand; empty: row-major
  Sizes readStrides = {}; ///< of operands that are only read; empty: as the others
  uint64_t offByOne = 0;  ///< bit k: operand k stands one element behind a boundary
  int64_t elements() const;
  const Sizes &stridesOf(const OperandInfo &operand) const;
};

using List = std::vector<EntrySpec>;

struct NamedList {
  std::string name;
  List list;
};

Sizes rowMajor(const Sizes &shape);
/// Strides of a dense tensor whose dimensions lie in memory in this order, the fastest last.
Sizes dense(const Sizes &shape, const std::vector<size_t> &order);

/// One-dimensional tensors of these sizes.
List vectors(const Sizes &sizes, uint64_t offByOne = 0);

/// Everything a list can be: lengths around a vector and a chunk of the kernel, empty tensors,
/// bases off by one element, many tensors, layouts.
std::vector<NamedList> allLists(const Kernel &kernel);
/// Layouts alone.
std::vector<NamedList> layoutLists(const Kernel &kernel);

} // namespace suite
