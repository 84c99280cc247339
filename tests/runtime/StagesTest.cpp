// Runs of more than one pass, with kernels of our own: reductions, skipped steps, other ranks.
#include "tests/runtime/Lists.h"
#include "tests/runtime/Norms.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>

using namespace fw;
using namespace fw::launch;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A list of the program in Norms.h; p starts at 10.
template <class T = float> struct Gradients {
  explicit Gradients(std::vector<std::vector<T>> gradients) : g(std::move(gradients)) {
    const char *dtype = sizeof(T) == 8 ? "f64" : "f32";
    most.assign(g.size(), -77.0f);
    for (size_t i = 0; i < g.size(); ++i) {
      p.emplace_back(g[i].size(), T(10));
      list.add(dtype, p[i].data(), {int64_t(g[i].size())});
      list.add(dtype, g[i].data(), {int64_t(g[i].size())});
      list.add("f32", &most[i], {});
    }
  }
  Gradients(const Gradients &) = delete;
  void addShared(double *norm, float *count) {
    list.add("f64", norm, {});
    list.add("f32", count, {1});
  }

  std::vector<std::vector<T>> g, p;
  std::vector<float> most;
  List list;
};

/// Checked, split and run with some threads; `applied`: not skipped.
class Step {
public:
  template <class T>
  void add(const Program &program, const Gradients<T> &gradients, unsigned threads) {
    Result<TensorList> list = checkTensors(program.operands, gradients.list.array());
    ASSERT_TRUE(list) << render(list.error());
    lists.push_back(std::make_unique<TensorList>(std::move(*list)));
    splits.push_back(std::make_unique<Split>(splitWork(program, *lists.back(), threads)));
    groups.push_back({program, *lists.back(), *splits.back(), rows});
  }
  Result<bool> run(unsigned count, const AllReduce &world = {}) {
    Threads threads(count);
    const Executor executor{count,
                            [&](size_t n, const Body &body) { threads.parallelFor(n, body); }};
    return execute(groups, executor, world);
  }

  const ScalarRows rows{.columns = 1, .rows = 1, .values = {1}};

private:
  std::vector<std::unique_ptr<TensorList>> lists;
  std::vector<std::unique_ptr<Split>> splits;
  std::vector<RunGroup> groups;
};

struct Shared {
  double norm = -77;
  float count = 5;
};

template <class T>
bool runStep(Gradients<T> &gradients, Shared &shared, unsigned threads = 2,
             const Program &program = normProgram<T>()) {
  gradients.addShared(&shared.norm, &shared.count);
  Step step;
  step.add(program, gradients, threads);
  Result<bool> applied = step.run(threads);
  EXPECT_TRUE(applied) << render(applied.error());
  return *applied;
}

TEST(Stages, reductionsReachTheirTensorsAndAll) {
  Gradients<> gradients({{3, 0}, {}, {-4}});
  Shared shared;
  EXPECT_TRUE(runStep(gradients, shared));
  EXPECT_EQ(shared.norm, 5);
  EXPECT_EQ(shared.count, 6);
  EXPECT_EQ(gradients.most, (std::vector<float>{3, -infinity, -4}));
  EXPECT_EQ(gradients.p[0], (std::vector<float>{10 - 0.2f * 3, 10}));
  EXPECT_EQ(gradients.p[2], (std::vector<float>{10 + 0.2f * 4}));
}

TEST(Stages, aReductionPerTensorScalesItsTensor) {
  Gradients<> gradients({{3, 4}, {}, {-2}});
  Shared shared;
  EXPECT_TRUE(runStep(gradients, shared, 2, normProgram(Reduction::Keep::Tensor)));
  EXPECT_EQ(gradients.p[0], (std::vector<float>{10 - 0.2f * 3, 10 - 0.2f * 4}));
  EXPECT_EQ(gradients.p[2], (std::vector<float>{11}));
  EXPECT_EQ(shared.norm, 5) << "of all is what the first row says";
}

TEST(Stages, listsOfNothingReduceToNothing) {
  for (auto empty : {std::vector<std::vector<float>>{}, {{}, {}}}) {
    Gradients<> gradients(empty);
    Shared shared;
    EXPECT_TRUE(runStep(gradients, shared));
    EXPECT_EQ(shared.norm, 0);
    EXPECT_EQ(shared.count, 6);
    EXPECT_EQ(gradients.most, std::vector<float>(empty.size(), -infinity));
  }
}

std::vector<std::vector<float>> drawn() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> out;
  for (size_t count : {1u, 70'000u, 0u, 65'536u, 300'001u, 17u, 131'072u}) {
    out.emplace_back(count);
    for (float &x : out.back())
      x = normal(random);
  }
  return out;
}

TEST(Stages, bitsDependNeitherOnThreadsNorOnTheRun) {
  Gradients<> once(drawn());
  Shared expected;
  ASSERT_TRUE(runStep(once, expected, 1));
  double exact = 0;
  for (const auto &g : once.g)
    for (float x : g)
      exact += double(x) * x;
  EXPECT_NEAR(expected.norm, std::sqrt(exact), 1e-4 * std::sqrt(exact));
  for (unsigned threads : {1u, 2u, 7u, 7u}) {
    Gradients<> again(drawn());
    Shared shared;
    ASSERT_TRUE(runStep(again, shared, threads));
    EXPECT_EQ(shared.norm, expected.norm) << threads;
    EXPECT_EQ(again.most, once.most) << threads;
    EXPECT_EQ(again.p, once.p) << threads;
  }
}

/// One partial per 65536 elements: the bits are those of sums that start anew there.
TEST(Stages, piecesAreFixed) {
  Gradients<> gradients({std::vector<float>(150'000, 0.1f)});
  Shared shared;
  ASSERT_TRUE(runStep(gradients, shared, 7));
  double sum = 0;
  for (int64_t at = 0; at < 150'000; at += reductionPiece) {
    float partial = 0;
    for (int64_t i = at; i < std::min<int64_t>(at + reductionPiece, 150'000); ++i)
      partial += 0.1f * 0.1f;
    sum += double(partial);
  }
  EXPECT_EQ(shared.norm, std::sqrt(sum));
}

TEST(Stages, viewsReduceTheirElementsAlone) {
  constexpr int64_t rows = 500, width = 300, slice = 200;
  std::vector<float> g(rows * width, std::nanf("")), p(rows * width, 10.0f);
  for (int64_t r = 0; r < rows; ++r)
    std::fill_n(g.begin() + r * width + 7, slice, 1.0f);
  Shared shared;
  float most = 0;
  Gradients<> views({});
  views.list.add("f32", p.data() + 7, {rows, slice}, {width, 1});
  views.list.add("f32", g.data() + 7, {rows, slice}, {width, 1});
  views.list.add("f32", &most, {});
  ASSERT_TRUE(runStep(views, shared, 3));
  EXPECT_EQ(shared.norm, std::sqrt(double(rows * slice)));
  EXPECT_EQ(most, 1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c)
      ASSERT_EQ(p[r * width + c] != 10, c >= 7 && c < 7 + slice) << r << " " << c;
}

TEST(Stages, skippedStepsWriteReportsAlone) {
  for (float poison : {infinity, std::nanf("")}) {
    std::vector<std::vector<float>> given = drawn();
    given[4][200'000] = poison;
    Gradients<> gradients(given);
    Shared shared;
    EXPECT_FALSE(runStep(gradients, shared));
    EXPECT_FALSE(std::isfinite(shared.norm));
    EXPECT_EQ(std::isnan(gradients.most[4]), std::isnan(poison));
    EXPECT_EQ(shared.count, 5);
    for (const auto &p : gradients.p)
      EXPECT_EQ(p, std::vector<float>(p.size(), 10.0f));
  }
}

TEST(Stages, groupsOfAllDtypesHaveOneNorm) {
  Gradients<float> narrow({{1, 1}, {}});
  Gradients<double> wide({{1}, {-1}});
  const Program first = normProgram<float>(), second = normProgram<double>();
  Shared shared;
  narrow.addShared(&shared.norm, &shared.count);
  wide.addShared(&shared.norm, &shared.count);
  Step step;
  step.add(first, narrow, 2);
  step.add(second, wide, 2);
  Result<bool> applied = step.run(2);
  ASSERT_TRUE(applied);
  EXPECT_TRUE(*applied);
  EXPECT_EQ(shared.norm, 2);
  EXPECT_EQ(shared.count, 6) << "stored once";
  EXPECT_EQ(narrow.p[0], (std::vector<float>{9.5f, 9.5f}));
  EXPECT_EQ(wide.p[0], (std::vector<double>{9.5}));
  EXPECT_EQ(wide.p[1], (std::vector<double>{10.5}));
  EXPECT_EQ(wide.most, (std::vector<float>{1, -1}));
  wide.g[1][0] = std::nan("");
  ASSERT_TRUE(*(applied = step.run(2)) == false);
  EXPECT_EQ(narrow.p[0], (std::vector<float>{9.5f, 9.5f})) << "one decision for all groups";
}

TEST(Stages, theWorldIsAskedBetweenThePasses) {
  Gradients<> gradients({{3}});
  Shared shared;
  const Program program = normProgram(Reduction::Keep::World);
  gradients.addShared(&shared.norm, &shared.count);
  Step step;
  step.add(program, gradients, 1);
  std::string asked;
  Result<bool> applied = step.run(1, [&](std::span<double> numbers, const char *kind) {
    asked += kind;
    EXPECT_EQ(numbers.size(), 1u);
    EXPECT_EQ(numbers[0], 9);
    EXPECT_EQ(gradients.p[0][0], 10);
    numbers[0] += 16;
    return Result<void>();
  });
  ASSERT_TRUE(applied);
  EXPECT_EQ(asked, "sum");
  EXPECT_EQ(program.exchangeCount(), 1u);
  EXPECT_EQ(shared.norm, 5);
  EXPECT_EQ(gradients.most[0], 3) << "keeps its tensor, so it stays here";
}

/// Reads one number of each kind of reduction over the world.
TEST(Stages, minimaTravelAsMaxima) {
  Program program = normProgram(Reduction::Keep::World);
  program.stages[0].reductions = {{Reduction::Kind::Min, Reduction::Keep::World},
                                  {Reduction::Kind::Max, Reduction::Keep::World}};
  program.stages[0].kernel->function = [](const void *const *, int64_t, int64_t, const void *,
                                          double *results) { results[0] = 4, results[1] = 6; };
  Gradients<> gradients({{1}});
  Shared shared;
  gradients.addShared(&shared.norm, &shared.count);
  Step step;
  step.add(program, gradients, 1);
  int calls = 0;
  Result<bool> applied = step.run(1, [&](std::span<double> numbers, const char *kind) {
    ++calls;
    EXPECT_STREQ(kind, "max");
    EXPECT_EQ(std::vector<double>(numbers.begin(), numbers.end()), (std::vector<double>{-4, 6}));
    numbers[0] = -1, numbers[1] = 7; // another rank has 1 and 7
    return Result<void>();
  });
  ASSERT_TRUE(applied);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(program.exchangeCount(), 1u);
  EXPECT_EQ(shared.norm, 1);
  EXPECT_EQ(gradients.most[0], 7);
}

TEST(Stages, aWorldThatFailsLeavesEverything) {
  Gradients<> gradients({{3}});
  Shared shared;
  const Program program = normProgram(Reduction::Keep::World);
  gradients.addShared(&shared.norm, &shared.count);
  Step step;
  step.add(program, gradients, 1);
  Result<bool> applied = step.run(1, [](std::span<double>, const char *) -> Result<void> {
    return Error{Code::DEVICE, "a rank is gone"};
  });
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().text, "a rank is gone");
  EXPECT_EQ(shared.norm, -77);
  EXPECT_EQ(shared.count, 5);
  EXPECT_EQ(gradients.most[0], -77);
  EXPECT_EQ(gradients.p[0][0], 10);
}

TEST(Stages, sizesAndNumbersOfTensors) {
  using Kind = jit::ScalarInput::Kind;
  Program program;
  program.operands = {{.name = "x", .dtype = "f32", .bytes = 4, .read = true}};
  for (const char *name : {"number", "size", "all"})
    program.operands.push_back(
        {.name = name, .dtype = "f32", .bytes = 4, .written = true, .scope = Scope::Tensor});
  jit::ScalarProgram &scalars = program.stages.emplace_back().scalars;
  scalars.results = {{scalars.input(Kind::TensorIndex), 1, true},
                     {scalars.input(Kind::TensorSize), 2, true},
                     {scalars.input(Kind::AllSize), 3, true}};
  float x[3] = {};
  std::array<std::array<float, 3>, 4> out = {};
  List lists[2];
  for (int64_t i = 0; i < 4; ++i) {
    List &list = lists[i / 2];
    list.add("f32", x, {i == 1 ? 0 : 3});
    for (float &number : out[size_t(i)])
      list.add("f32", &number, {1, 1});
  }
  const ScalarRows none;
  std::vector<RunGroup> groups;
  std::vector<TensorList> checked;
  const Split split;
  for (const List &list : lists)
    checked.push_back(*checkTensors(program.operands, list.array()));
  for (const TensorList &list : checked)
    groups.push_back({program, list, split, none});
  ASSERT_TRUE(execute(groups, {}));
  EXPECT_EQ(out, (decltype(out){{{0, 3, 9}, {1, 0, 9}, {2, 3, 9}, {3, 3, 9}}}));
}

TEST(Stages, programsOfScalarsAlone) {
  using Kind = jit::ScalarInput::Kind;
  Program program;
  const std::pair<const char *, unsigned> dtypes[] = {{"f32", 4}, {"bf16", 2}, {"f64", 8}};
  for (auto [dtype, bytes] : dtypes)
    program.operands.push_back({.name = dtype,
                                .dtype = dtype,
                                .bytes = bytes,
                                .read = true,
                                .written = true,
                                .scope = Scope::All});
  jit::ScalarProgram &scalars = program.stages.emplace_back().scalars;
  const uint32_t a = scalars.input(Kind::Operand, 0), b = scalars.input(Kind::Operand, 2);
  const uint32_t sum = scalars.operation(jit::ScalarCode::add, a, b);
  scalars.results = {{b, 0, false}, {sum, 1, false}, {a, 2, false}};
  float narrow = 1;
  uint16_t half = 0;
  double wide = 2.00390625;
  List list;
  list.add("f32", &narrow, {});
  list.add("bf16", &half, {});
  list.add("f64", &wide, {});
  ASSERT_TRUE(launch::launch(program, list.array(), ScalarArray(nullptr, 0), {}));
  EXPECT_EQ(narrow, 2.00390625f) << "exchanged: all are read before one is written";
  EXPECT_EQ(wide, 1);
  EXPECT_EQ(half, 0x4040) << "3.00390625, rounded";
}

} // namespace
