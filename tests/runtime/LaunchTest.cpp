// A launch with a kernel of our own: p = p + slot * g.
#include "runtime/launch/Launch.h"
#include "runtime/launch/Work.h"
#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

using namespace fw;
using namespace fw::launch;

namespace {

std::atomic<int> calls;

void axpy(const void *const *pointers, int64_t begin, int64_t end, const void *scalars, double *) {
  ++calls;
  auto *p = static_cast<float *>(const_cast<void *>(pointers[0]));
  auto *g = static_cast<const float *>(pointers[1]);
  for (int64_t i = begin; i < end; ++i)
    p[i] += static_cast<const float *>(scalars)[0] * g[i];
}

Program axpyProgram() {
  Program program;
  program.operands = paramAndGrad();
  program.hypers = {{.name = "a", .fallback = 1, .low = 0}};
  Stage &only = program.stages.emplace_back();
  const uint32_t a = only.scalars.input(jit::ScalarInput::Kind::Hyper);
  const uint32_t two = only.scalars.constant(2);
  only.scalars.slot(only.scalars.operation(jit::ScalarCode::mul, a, two), "twice");
  only.kernel = {.function = axpy, .operands = {0, 1}, .slots = 1};
  return program;
}

Executor executor(Threads &threads) {
  return {threads.count(),
          [&](size_t count, const Body &body) { threads.parallelFor(count, body); }};
}

Result<void> run(const List &list, const std::vector<fw_scalar> &scalars = {},
                 unsigned threadCount = 3) {
  Threads threads(threadCount);
  return launch::launch(axpyProgram(), list.array(), ScalarArray(scalars.data(), scalars.size()),
                        executor(threads));
}

TEST(Launch, everyElementOfALongListOnce) {
  std::vector<std::vector<float>> p, g;
  List list;
  for (int64_t count : {1, 0, 1'000'003, 64, 5, 300'000}) {
    p.emplace_back(count, 1.0f);
    g.emplace_back(count);
    std::iota(g.back().begin(), g.back().end(), 0.0f);
    list.add("f32", p.back().data(), {count});
    list.add("f32", g.back().data(), {count});
  }
  ASSERT_TRUE(run(list));
  for (size_t entry = 0; entry < p.size(); ++entry)
    for (size_t i = 0; i < p[entry].size(); ++i)
      ASSERT_EQ(p[entry][i], 1 + 2 * float(i)) << entry << " " << i;
}

TEST(Launch, viewsTouchTheirElementsOnly) {
  constexpr int64_t rows = 700, width = 300,
                    slice = 200; // rows of p are a slice of `width` columns
  std::vector<float> p(rows * width, 1.0f), g(rows * slice, 0.5f);
  List list;
  list.add("f32", p.data() + 3, {rows, slice}, {width, 1});
  list.add("f32", g.data(), {rows, slice});
  ASSERT_TRUE(run(list));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c)
      ASSERT_EQ(p[r * width + c], c >= 3 && c < 3 + slice ? 2.0f : 1.0f) << r << " " << c;
}

TEST(Launch, scalarsPerTensor) {
  float p[3] = {0, 0, 0}, g[3] = {1, 1, 1};
  List list;
  for (int i = 0; i < 3; ++i) {
    int64_t count = i == 1 ? 0 : 1; // the empty entry keeps its row
    list.add("f32", p + i, {count});
    list.add("f32", g + i, {count});
  }
  double values[] = {1, 5, 10};
  ASSERT_TRUE(run(list, {{sizeof(fw_scalar), 0, "a", 0, values, 3}}));
  EXPECT_EQ(p[0], 2);
  EXPECT_EQ(p[1], 0);
  EXPECT_EQ(p[2], 20);
}

TEST(Launch, nothingIsWrittenWhenTheLastTensorIsWrong) {
  std::vector<float> p(100'000, 1.0f), g(100'000, 1.0f);
  List list;
  list.add("f32", p.data(), {50'000});
  list.add("f32", g.data(), {50'000});
  list.add("f32", p.data() + 50'000, {50'000});
  list.add("f16", g.data() + 50'000, {50'000});
  calls = 0;
  EXPECT_FALSE(run(list));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(p, std::vector<float>(100'000, 1.0f));
}

TEST(Launch, smallWorkStaysWithTheCaller) {
  float p[8] = {}, g[8] = {};
  List list;
  list.add("f32", p, {8});
  list.add("f32", g, {8});
  Executor none{8,
                [](size_t, const Body &) { FAIL() << "a small launch must not ask for threads"; }};
  ASSERT_TRUE(launch::launch(axpyProgram(), list.array(), ScalarArray(nullptr, 0), none));
}

TEST(Launch, emptyListsAreDoneAtOnce) {
  calls = 0;
  ASSERT_TRUE(run(List()));
  EXPECT_EQ(calls, 0);
}

TEST(Launch, misalignedBases) {
  std::vector<char> bytes(1001 * 4 * 2 + 2);
  float *p = reinterpret_cast<float *>(bytes.data()) + 1, *g = p + 1000;
  std::fill(p, p + 1000, 1.0f);
  std::fill(g, g + 1000, 1.0f);
  List list;
  list.add("f32", p, {1000});
  list.add("f32", g, {1000});
  ASSERT_TRUE(run(list));
  EXPECT_EQ(p[0], 3);
  EXPECT_EQ(p[999], 3);
  EXPECT_EQ(g[0], 1);
}

} // namespace
