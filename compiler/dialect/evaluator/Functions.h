// Accuracy of the element functions, from the vocabulary's table.
#pragma once

namespace fw::evaluator {

struct Ulps {
  double f32, f64;
};

namespace ulps {
#define FW_FUNCTION(name, single, twofold) inline constexpr Ulps name{single, twofold};
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
} // namespace ulps

} // namespace fw::evaluator
