// The axes of an op's operands by number, so that launches compare no names.
#pragma once

#include "runtime/launch/Tensors.h"

#include <llvm/ADT/SmallVector.h>

namespace fw::launch {

/// Made once per program; empty for an op over elements.
struct AxisTable {
  static constexpr uint32_t one = UINT32_MAX; ///< the axis `1`, which has no number

  AxisTable() = default;
  AxisTable(const Header &header, std::span<const Operand> operands);

  std::vector<std::string> names; ///< the header's axes, then those that operands have of their own
  std::vector<std::vector<uint32_t>> ofOperands;
};

/// Of axes, by number. A launch has few, and should not allocate for them.
using Lengths = llvm::SmallVector<int64_t, 4>;

} // namespace fw::launch
