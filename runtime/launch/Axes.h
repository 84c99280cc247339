// The tensors of ops over axes: shapes that name the lengths of axes.
#pragma once

#include "runtime/launch/AxisTable.h"

namespace fw::launch {

/// Lengths of the axes of every list entry.
struct AxisList {
  llvm::SmallVector<Lengths, 1> extents; ///< [entry][axis]
};

/// Checks every tensor against its operand and finds how long the axes are. An operand has the
/// dimensions that its axes name, `1` is one of size 1; strides are free.
Result<AxisList> readAxes(const Header &header, const AxisTable &table,
                          std::span<const Operand> operands, const TensorArray &tensors,
                          Place place = {});

} // namespace fw::launch
