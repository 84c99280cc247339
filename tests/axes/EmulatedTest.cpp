// The GPU kernels of every shipped op over rows, launched through the C API on the fake driver and
// run by the emulator, against the evaluator.
#include "tests/axes/Twins.h"

#include <cstdlib>

using namespace axes;

namespace {

class Emulated : public testing::TestWithParam<size_t> {};

std::string nameOf(const testing::TestParamInfo<size_t> &info) {
  return fw::evaluatedProfiles()[info.param].op + "_" + std::to_string(info.param);
}

} // namespace

TEST_P(Emulated, StayWithinTheBounds) {
  const fw::Profile profile = fw::evaluatedProfiles()[GetParam()];
  for (const Twin &twin : twinsOf(GetParam(), profile)) {
    ASSERT_EQ(setenv("FUSEWRIGHT_ROW_WIDTHS", twin.isExact() ? "exact" : "any", 1), 0);
    Evaluated op(profile.op, choicesOf(profile));
    for (int64_t n : twin.widths) {
      fillShipped(op, profile, n);
      op.shift(twin.shift).expectLaunchWithinBounds();
      if (HasFailure())
        FAIL() << "of width " << n << ", " << twin.shift << " elements behind a boundary";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Emulated,
                         testing::Range(size_t(0), fw::evaluatedProfiles().size()), nameOf);
