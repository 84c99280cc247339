// The storage dtypes by name (dtypes.def), without MLIR.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fw {

struct Dtype {
  std::string_view name;
  std::string_view type; ///< spelling of the MLIR type
  std::string_view cuda; ///< spelling in CUDA text
  unsigned bytes;
  int digits;
  int emin;
  double largest;
  bool infinity;
  bool saturate;
  int dlpackCode;
  int dlpackBits;
};

/// All dtypes in the table's order.
std::span<const Dtype> allDtypes();

/// The dtype called `name`, or null.
const Dtype *findDtype(std::string_view name);

/// "f32, f64, ...", for messages.
std::string listDtypes();

} // namespace fw
