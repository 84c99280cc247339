// Entries of a list as contiguous segments, and the scalars of a plan: pure functions.
#include "runtime/plan/Segments.h"
#include "runtime/plan/Scalars.h"
#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

using namespace fw;
using namespace fw::plan;

namespace {

float memory[4096];

/// The segments of one entry of a param and a grad, as "count@p@g" in elements of `memory`.
std::string segmentsOf(std::vector<int64_t> shape, std::vector<int64_t> first = {},
                       std::vector<int64_t> second = {}) {
  launch::List list;
  list.add("f32", memory, shape, std::move(first));
  list.add("f32", memory + 2048, shape, std::move(second));
  const auto operands = launch::paramAndGrad();
  auto checked = launch::checkTensors(operands, list.array());
  if (!checked)
    return render(checked.error());
  std::vector<SegmentPlace> places;
  appendSegments(*checked, 7, places);
  std::string text;
  for (const SegmentPlace &place : places) {
    EXPECT_EQ(place.group, 7u);
    text += (text.empty() ? "" : " ") + std::to_string(place.count);
    for (size_t k = 0; k < 2; ++k) {
      const auto *at = reinterpret_cast<const float *>(addressOf(*checked, place, k));
      text += "@" + std::to_string(at - memory - (k ? 2048 : 0));
    }
  }
  return text;
}

TEST(Segments, aDenseTensorIsOne) {
  EXPECT_EQ(segmentsOf({}), "1@0@0");
  EXPECT_EQ(segmentsOf({0, 3}), "");
  EXPECT_EQ(segmentsOf({4, 5}), "20@0@0");
  EXPECT_EQ(segmentsOf({4, 5}, {1, 4}, {1, 4}), "20@0@0");
}

TEST(Segments, aViewIsOnePerRow) {
  EXPECT_EQ(segmentsOf({3, 5}, {8, 1}), "5@0@0 5@8@5 5@16@10");
  EXPECT_EQ(segmentsOf({3, 5}, {5, 1}, {0, 1}), "5@0@0 5@5@0 5@10@0");
  EXPECT_EQ(segmentsOf({2, 2, 3}, {20, 5, 1}, {6, 3, 1}), "3@0@0 3@5@3 3@20@6 3@25@9");
  EXPECT_EQ(segmentsOf({2, 3}, {1, 4}, {1, 4}), "2@0@0 2@4@4 2@8@8");
}

TEST(Segments, absentOperandsHaveNoAddress) {
  launch::List list;
  list.add("f32", memory, {3});
  list.add("f32", nullptr, {3});
  auto operands = launch::paramAndGrad();
  operands[1].present = false;
  auto checked = launch::checkTensors(operands, list.array());
  ASSERT_TRUE(checked) << render(checked.error());
  std::vector<SegmentPlace> places;
  appendSegments(*checked, 0, places);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_NE(addressOf(*checked, places[0], 0), 0u);
  EXPECT_EQ(addressOf(*checked, places[0], 1), 0u);
}

// --- Scalars -------------------------------------------------------------------------------------

const std::vector<launch::Hyper> hypers = {
    {.name = "t", .kind = launch::Hyper::Kind::Int, .isStep = true},
    {.name = "lr", .fallback = 0.5, .low = 0}};

fw_scalar scalar(const char *name, double value) {
  fw_scalar out = {};
  out.struct_size = sizeof out;
  out.name = name;
  out.value = value;
  return out;
}
fw_scalar values(const char *name, const std::vector<double> &of) {
  fw_scalar out = scalar(name, 0);
  out.values = of.data();
  out.count = of.size();
  return out;
}
launch::ScalarArray arrayOf(const std::vector<fw_scalar> &given) {
  return {given.data(), given.size()};
}

std::vector<double> rowOf(const RunScalars &run, size_t group, size_t entry) {
  std::vector<double> row(hypers.size());
  run.row(group, entry, row);
  return row;
}
using Row = std::vector<double>;

TEST(PlanScalars, theRunWinsOverTheGroupAndTheGroupOverTheDefault) {
  PlanScalars scalars(hypers, {2, 3});
  ASSERT_TRUE(scalars.set(0, arrayOf({scalar("lr", 2), scalar("t", 4)})));
  EXPECT_FALSE(scalars.resolve(arrayOf({}))) << "nobody gives group 1 its step";
  const std::vector<fw_scalar> given = {scalar("t", 9)};
  auto run = scalars.resolve(arrayOf(given));
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_EQ(rowOf(*run, 0, 1), (Row{9, 2}));
  EXPECT_EQ(rowOf(*run, 1, 2), (Row{9, 0.5}));
}

TEST(PlanScalars, valuesOfAGroupAreCopiedThoseOfARunAreOfTheWholePlan) {
  PlanScalars scalars(hypers, {2, 3});
  std::vector<double> own = {1, 2};
  ASSERT_TRUE(scalars.set(0, arrayOf({values("lr", own)})));
  own = {8, 8};
  const std::vector<double> steps = {1, 2, 3, 4, 5};
  const std::vector<fw_scalar> given = {values("t", steps)};
  auto run = scalars.resolve(arrayOf(given));
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_EQ(rowOf(*run, 0, 0), (Row{1, 1}));
  EXPECT_EQ(rowOf(*run, 0, 1), (Row{2, 2}));
  EXPECT_EQ(rowOf(*run, 1, 0), (Row{3, 0.5}));
  EXPECT_EQ(rowOf(*run, 1, 2), (Row{5, 0.5}));
}

TEST(PlanScalars, entriesVaryOnlyWhereTheirValuesDiffer) {
  PlanScalars scalars(hypers, {2, 3});
  auto varies = [&](const std::vector<fw_scalar> &given, std::vector<size_t> groups) {
    auto run = scalars.resolve(arrayOf(given));
    EXPECT_TRUE(run);
    return run->variesByEntry(groups);
  };
  const fw_scalar step = scalar("t", 1);
  const std::vector<double> byGroup = {1, 1, 2, 2, 2}, inSecond = {1, 1, 2, 2, 3};
  EXPECT_FALSE(varies({step}, {0, 1}));
  EXPECT_FALSE(varies({step, values("lr", byGroup)}, {0, 1}));
  EXPECT_TRUE(varies({step, values("lr", inSecond)}, {0, 1}));
  EXPECT_FALSE(varies({step, values("lr", inSecond)}, {0}));
}

TEST(PlanScalars, wrongOnesLeaveTheGroup) {
  PlanScalars scalars(hypers, {2});
  ASSERT_TRUE(scalars.set(0, arrayOf({scalar("lr", 2), scalar("t", 4)})));
  const std::vector<double> three = {1, 2, 3}, negative = {1, -1};
  EXPECT_FALSE(scalars.set(0, arrayOf({values("lr", three)})));
  EXPECT_FALSE(scalars.set(0, arrayOf({values("lr", negative)})));
  EXPECT_FALSE(scalars.set(0, arrayOf({scalar("lr", 1), scalar("lr", 1)})));
  auto run = scalars.resolve(arrayOf({}));
  ASSERT_TRUE(run);
  EXPECT_EQ(rowOf(*run, 0, 0), (Row{4, 2}));
}

TEST(PlanScalars, dataMakesRowsOfTheDevice) {
  PlanScalars scalars(hypers, {2, 1});
  int64_t steps[3] = {};
  fw_scalar resident = scalar("t", 0);
  resident.data = steps;
  resident.count = 3;
  resident.dtype = "i64";
  resident.advance = 1;
  const std::vector<fw_scalar> given = {resident};
  auto run = scalars.resolve(arrayOf(given));
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_TRUE(run->isOnDevice(0));
  EXPECT_FALSE(run->isOnDevice(1));
  const size_t first = 0;
  EXPECT_TRUE(run->variesByEntry({&first, 1}));
  EXPECT_EQ(run->find(1, 0).first, 2u);
  EXPECT_TRUE(run->find(1, 0).source.advance);
}

} // namespace
