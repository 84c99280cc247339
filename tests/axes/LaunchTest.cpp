// Launches of ops over rows, on the CPU or on the device that FW_TEST_DEVICE names: every shipped
// one, at awkward sizes, against the evaluator.
#include "ops/Profiles.h"
#include "tests/axes/Filled.h"

#include <limits>

using namespace axes;

namespace {

std::string nameOf(const testing::TestParamInfo<fw::Profile> &info) {
  return info.param.op + "_" + std::to_string(info.index);
}

class Launches : public testing::TestWithParam<fw::Profile> {};

} // namespace

TEST_P(Launches, StayWithinTheBounds) {
  Evaluated op(GetParam().op, choicesOf(GetParam()));
  for (int64_t n : {1, 2, 3, 7, 8, 9, 31, 33, 100, 1000, 1025}) {
    fillShipped(op, GetParam(), n);
    // A device's memory may start on boundaries of vectors or off them.
    const bool isCpu = Evaluated::device() == "cpu";
    for (size_t shift : isCpu ? std::vector<size_t>{0} : std::vector<size_t>{0, 3}) {
      op.shift(shift).expectLaunchWithinBounds();
      if (HasFailure())
        FAIL() << "of width " << n << ", " << shift << " elements behind a boundary";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Launches, testing::ValuesIn(fw::evaluatedProfiles()), nameOf);

TEST(RowLaunch, OfRowsLongerThanAPiece) {
  for (const char *name : {"layer_norm", "softmax", "rms_norm"}) {
    Evaluated op(name);
    fill(op, {{"row", 2}, {"column", 131072 + 77}}, {"row", "column"});
    op.expectLaunchWithinBounds();
  }
}

TEST(RowLaunch, OfManyRowsIsShared) {
  Evaluated op("layer_norm");
  fill(op, {{"row", 3000}, {"column", 65}}, {"row", "column"});
  op.expectLaunchWithinBounds();
}

TEST(RowLaunch, OfNothingIsNothing) {
  Evaluated op("softmax");
  op.set("x", {0, 5}).set("y", {0, 5});
  EXPECT_EQ(op.launch(), "");
  op.set("x", {5, 0}).set("y", {5, 0});
  EXPECT_EQ(op.launch(), "");
}

TEST(RowLaunch, InfAndNanAsTheBoundsSay) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const char *masked : {"true", "false"}) {
    Evaluated op("softmax", {.options = {{"masked", masked}}});
    op.set("x", {5, 3},
           {-inf, -inf, -inf, 1, -inf, 2, std::nan(""), 1, 2, inf, 1, 2, 3e38, 1, -3e38});
    op.set("y", {5, 3});
    op.expectLaunchWithinBounds();
  }
}

TEST(RowLaunch, TakesStridesOfRows) {
  const Numbers all = wavy(24); // 3 rows of 8, of which the first 4 are the tensor
  Numbers cut;
  for (size_t r = 0; r < 3; ++r)
    cut.insert(cut.end(), all.begin() + long(8 * r), all.begin() + long(8 * r + 4));
  Evaluated dense("softmax"), strided("softmax");
  dense.set("x", {3, 4}, cut).set("y", {3, 4});
  strided.set("x", {3, 8}, all).reshape("x", {3, 4}, {8, 1}).set("y", {3, 4});
  strided.expectLaunchWithinBounds();
  ASSERT_EQ(dense.launch(), "");
  EXPECT_EQ(strided.stored("y"), dense.stored("y"));
}

TEST(RowLaunch, WorksInPlace) {
  for (const char *name : {"softmax", "l2_normalize", "log_softmax"}) {
    Evaluated op(name);
    fill(op, {{"row", 3}, {"column", 37}}, {"row", "column"});
    ASSERT_EQ(op.launch(), "");
    const Numbers expected = op.stored("y");
    op.alias("y", "x");
    ASSERT_EQ(op.launch(), "");
    EXPECT_EQ(op.stored("x"), expected) << name;
  }
}

TEST(RowLaunch, RefusesMemoryThatIsSharedOtherwise) {
  Evaluated op("softmax_backward");
  op.set("y", {2, 4}, wavy(8)).set("dy", {2, 4}, wavy(8)).set("dx", {2, 4});
  op.strides("dx", {0, 1});
  op.alias("dx", "y");
  EXPECT_NE(op.launch().find("expected a place of its own for each row that is written"),
            std::string::npos);
  op.strides("dx", {5, 1});
  EXPECT_NE(op.launch().find("expected memory of its own for written operand 'dx'"),
            std::string::npos);
  Evaluated inner("softmax");
  inner.set("x", {2, 3}, wavy(6)).set("y", {2, 3}).strides("x", {1, 2});
  EXPECT_NE(inner.launch().find("expected stride 1 along axis 'column'"), std::string::npos);
}

TEST(RowLaunch, PlansAreRefused) {
  auto context = api::context();
  auto op = api::find(context, "softmax");
  auto request = api::request(op);
  auto program = api::compile(context, request);
  fw_plan_group group = {};
  group.struct_size = sizeof group;
  group.program = program.get();
  fw_plan *plan = nullptr;
  EXPECT_EQ(fw_plan_create(context.get(), &group, 1, &plan), FW_USAGE);
  EXPECT_EQ(api::lastError(),
            "group 0: expected an op over elements or scalars in a plan, got op "
            "'softmax' over axes; launch it with fw_launch: a plan gains nothing where each "
            "launch has a tensor");
}

TEST(RowLaunch, IntsBoolsAndReadsAtAnIndex) {
  Evaluated op(R"(op test over rows {
    in x, keep : bool, k : int;  row target : int;  column w;  out y, q : int, some[row] : bool, loss[row]
    hyper ignore : int = -100, most : int = 16777217
    t = max(x);  z = log(sum(exp(x - t))) + t
    loss = if target == ignore then 0 else (z - x[target])*w[target]
    q = (k div (index(column) - 2) + (k mod 3) - most) << (index(row) mod 5)
    some = any(keep and x > 0);  y = if keep then x + size(column) else -q
  })",
               {.dtypes = {{"k", "i16"}, {"x", "bf16"}, {"w", "f16"}, {"target", "i32"}}});
  for (int64_t n : {1, 5, 8, 19, 40}) {
    fill(op, {{"row", 6}, {"column", n}}, {"row", "column"});
    Numbers k, target;
    for (int64_t i = 0; i < 6 * n; ++i)
      k.push_back(double(i * 37 % 2001 - 1000));
    for (int64_t i = 0; i < 6; ++i)
      target.push_back(i == 2 ? -100 : i == 4 ? double(n) : double(i % n));
    op.set("k", {6, n}, k).set("target", {6}, target);
    op.expectLaunchWithinBounds();
  }
}
