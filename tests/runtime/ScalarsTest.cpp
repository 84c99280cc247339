// Named scalars become rows of numbers; every wrong one is told.
#include "runtime/launch/Scalars.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fw;
using namespace fw::launch;

namespace {

const std::vector<Hyper> hypers = {
    {.name = "t", .kind = Hyper::Kind::Int, .isStep = true},
    {.name = "lr", .fallback = 1e-3, .low = 0},
    {.name = "beta1", .fallback = 0.9, .low = 0, .high = 1, .highOpen = true},
    {.name = "ignore", .kind = Hyper::Kind::Int, .fallback = -100},
    {.name = "on", .kind = Hyper::Kind::Bool, .fallback = 1},
};

fw_scalar scalar(const char *name, double value) {
  return {sizeof(fw_scalar), 0, name, value, nullptr, 0};
}

Result<ScalarRows> read(const std::vector<fw_scalar> &given, size_t listLength = 2) {
  return readScalars(hypers, ScalarArray(given.data(), given.size()), listLength);
}

std::string errorOf(const std::vector<fw_scalar> &given, size_t listLength = 2) {
  Result<ScalarRows> rows = read(given, listLength);
  return rows ? "no error" : render(rows.error());
}

TEST(Scalars, AHyperWithoutADefaultMustBeGiven) {
  const Hyper hypers[] = {{.name = "lr", .required = true}};
  auto rows = readScalars(hypers, ScalarArray(nullptr, 0), 1);
  ASSERT_FALSE(rows);
  EXPECT_EQ(render(rows.error()),
            "lr: expected a value, got none; pass a scalar \"lr\", or give it "
            "a default in the op");
}

TEST(Scalars, defaultsFillOneRow) {
  Result<ScalarRows> rows = read({scalar("t", 3)});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows, 1u);
  EXPECT_EQ(rows->values, (llvm::SmallVector<double, 8>{3, 1e-3, 0.9, -100, 1}));
}

TEST(Scalars, valuesPerTensorGiveARowEach) {
  double steps[] = {3, 1};
  fw_scalar perTensor = scalar("t", 0);
  perTensor.values = steps;
  perTensor.count = 2;
  Result<ScalarRows> rows = read({scalar("lr", 0.5), perTensor});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows, 2u);
  EXPECT_EQ(rows->values,
            (llvm::SmallVector<double, 8>{3, 0.5, 0.9, -100, 1, 1, 0.5, 0.9, -100, 1}));
}

TEST(Scalars, errors) {
  fw_scalar step = scalar("t", 1);
  EXPECT_EQ(
      errorOf({}),
      "t: expected the number of this step, got none; pass a scalar \"t\" that counts the applied "
      "steps from 1");
  EXPECT_EQ(
      errorOf({scalar("t", 0)}),
      "t: expected the number of this step, >= 1, got 0; count the steps that are applied from 1");
  EXPECT_EQ(errorOf({scalar("t", 1.5)}),
            "t: expected an integer of at most 53 bits, got 1.5; pass a whole number");
  const std::string range = "; the op declares this range; pass a value within it";
  EXPECT_EQ(errorOf({step, scalar("lr", -1)}), "lr: expected a value >= 0, got -1" + range);
  EXPECT_EQ(errorOf({step, scalar("lr", NAN)}), "lr: expected a value >= 0, got nan" + range);
  EXPECT_EQ(errorOf({step, scalar("beta1", 1)}),
            "beta1: expected a value in [0, 1), got 1" + range);
  EXPECT_EQ(errorOf({step, scalar("on", 2)}), "on: expected 0 or 1, got 2; pass 0 or 1");
  EXPECT_EQ(errorOf({step, scalar("Lr", 1)}),
            "scalar 1: expected one of t, lr, beta1, ignore, on, got Lr; leave it out, or set the "
            "option of the request that brings it in");
  EXPECT_EQ(errorOf({step, step}),
            "scalar 1: expected each name once, got t again; leave one of them out");
  EXPECT_EQ(errorOf({scalar(nullptr, 1)}),
            "scalar 0: expected a name, got NULL; name one of t, lr, beta1, ignore, on");
  double values[] = {1, -2, 3};
  fw_scalar perTensor = {sizeof(fw_scalar), 0, "lr", 0, values, 3};
  EXPECT_EQ(errorOf({step, perTensor}),
            "scalar 1 (lr): expected one value per list entry, 2, got 3; pass as many values as "
            "entries, or values = NULL and one value");
  EXPECT_EQ(errorOf({step, perTensor}, 3), "entry 1: lr: expected a value >= 0, got -2" + range);
}

TEST(Scalars, rangesPrintAsTheyAreWritten) {
  EXPECT_EQ(printRange({.low = 0}), ">= 0");
  EXPECT_EQ(printRange({.low = 0, .lowOpen = true}), "> 0");
  EXPECT_EQ(printRange({.high = 0.5}), "<= 0.5");
  EXPECT_EQ(printRange({.low = 0, .high = 1, .lowOpen = true}), "in (0, 1]");
  EXPECT_EQ(printRange({}), "");
}

} // namespace
