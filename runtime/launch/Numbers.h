// Single numbers in memory, of any storage dtype.
#pragma once

#include <string_view>

namespace fw::launch {

struct NumberFormat {
  std::string_view dtype;
  double (*read)(const void *from);
  void (*write)(void *to, double value); ///< rounds once
};

/// The format of a dtype of the table.
const NumberFormat &formatOf(std::string_view dtype);

} // namespace fw::launch
