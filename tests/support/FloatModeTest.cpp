// The guard sets the standard mode and gives the caller's back.
#include "compiler/support/FloatMode.h"
#include "tests/support/FloatModes.h"

#include <gtest/gtest.h>

#include <limits>

namespace {

using fw::test::CallersMode;
using fw::test::callersModes;

TEST(FloatMode, standardInsideTheCallersOutside) {
  volatile double small = std::numeric_limits<double>::min() / 4, half = 0.5, third = 3;
  const double denormal = small * half, nearest = 1 / third;
  ASSERT_GT(denormal, 0);
  for (const auto &[name, set] : callersModes) {
    CallersMode mode(set);
    const double before[] = {small * half, 1 / third};
    EXPECT_FALSE(fw::test::sameBits(before[0], denormal) && fw::test::sameBits(before[1], nearest))
        << name << " changes nothing";
    double inside[2];
    {
      fw::StandardFloatMode standard;
      inside[0] = small * half, inside[1] = 1 / third;
    }
    const double after[] = {small * half, 1 / third};
    EXPECT_TRUE(fw::test::sameBits(inside[0], denormal)) << name;
    EXPECT_TRUE(fw::test::sameBits(inside[1], nearest)) << name;
    EXPECT_TRUE(fw::test::sameBits(after[0], before[0])) << name;
    EXPECT_TRUE(fw::test::sameBits(after[1], before[1])) << name;
  }
}

} // namespace
