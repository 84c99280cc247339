// Where rows stand as records of a GPU's launches name it: every row of every operand is found at
// the address that the tensor's own strides give, and facts are true of all of them.
#include "runtime/launch/RowGrid.h"

#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

using namespace fw;
using namespace fw::launch;

namespace {

using Sizes = std::vector<int64_t>;

/// An address as a number; nothing reads it.
float *at(int64_t bytes) { return reinterpret_cast<float *>((int64_t(1) << 20) + bytes); }

Operand operand(std::string name, std::vector<std::string> axes, bool written = false,
                unsigned bytes = 4) {
  const bool isWhole = axes.size() > 1;
  return {.name = std::move(name),
          .dtype = bytes == 2 ? "bf16" : "f32",
          .bytes = bytes,
          .read = !written,
          .written = written,
          .scope = isWhole ? Scope::Element : Scope::Axes,
          .axes = std::move(axes)};
}

/// x [row, column], a weight [column], a statistic [row], y [row, column].
Program norm(unsigned bytes = 4) {
  Program program;
  program.header = {.axes = {"row", "column"}, .isRows = true};
  program.operands = {operand("x", {"row", "column"}, false, bytes), operand("w", {"column"}),
                      operand("s", {"row"}), operand("y", {"row", "column"}, true, bytes)};
  program.stages.emplace_back().kernel.emplace();
  return program;
}

struct Made {
  RowGrid grid;
  std::vector<RowEntry> entries;
  std::string error;
};

Made make(const Program &program, const List &list) {
  Made made;
  Result<AxisList> axes = readAxes(program.header, program.operands, list.array());
  if (!axes)
    return {{}, {}, render(axes.error())};
  auto entries = makeEntries(program, list.array(), *axes);
  if (!entries)
    return {{}, {}, render(entries.error())};
  made.entries = std::move(*entries);
  Result<RowGrid> grid = gridOf(program, made.entries.front());
  if (!grid)
    return {{}, {}, render(grid.error())};
  made.grid = std::move(*grid);
  return made;
}

/// Each row by the record's strides, as a kernel walks them, beside the entry's own place.
void expectSamePlaces(const Program &program, const Made &made) {
  ASSERT_EQ(made.error, "");
  const RowEntry &entry = made.entries.front();
  int64_t rows = 1;
  for (int64_t size : made.grid.sizes)
    rows *= size;
  ASSERT_EQ(rows, entry.rows());
  for (int64_t row = 0; row < rows; ++row) {
    Sizes index(entry.axesInFront());
    for (int64_t rest = row, a = int64_t(index.size()); a-- > 0; rest /= entry.lengths()[size_t(a)])
      index[size_t(a)] = rest % entry.lengths()[size_t(a)];
    for (size_t k = 0; k < program.operands.size(); ++k) {
      int64_t offset = 0, rest = row;
      for (size_t a = made.grid.sizes.size(); a-- > 0; rest /= made.grid.sizes[a])
        offset += rest % made.grid.sizes[a] * made.grid.strides[k][a];
      ASSERT_EQ(offset, entry.operand(k).offset(index)) << "operand " << k << ", row " << row;
    }
  }
}

/// Tensors of norm() with rows of any dimensions, dense but for x.
List tensors(Sizes shape, Sizes xStrides, int64_t xAt = 0, int64_t yAt = 1 << 24) {
  List list;
  Sizes rows(shape.begin(), shape.end() - 1);
  list.add("f32", at(xAt), shape, std::move(xStrides));
  list.add("f32", at(1 << 22), {shape.back()});
  list.add("f32", at(1 << 23), rows);
  list.add("f32", at(yAt), shape);
  return list;
}

TEST(RowGrid, denseRowsAreOneAxis) {
  const Program program = norm();
  Made made = make(program, tensors({2, 3, 5, 8}, {}));
  expectSamePlaces(program, made);
  EXPECT_EQ(made.grid.sizes, (Sizes{30}));
  EXPECT_EQ(made.grid.strides, (std::vector<Sizes>{{32}, {0}, {4}, {32}}));
  EXPECT_EQ(made.grid.facts, (RowFacts{.columns = 8, .isAligned = true, .isTogether = true}));
}

TEST(RowGrid, dimensionsOfSizeOneSayNothing) {
  const Program program = norm();
  Made made = make(program, tensors({1, 6, 1, 8}, {7, 16, 3, 1}));
  expectSamePlaces(program, made);
  EXPECT_EQ(made.grid.sizes, (Sizes{6}));
  EXPECT_EQ(made.grid.strides[0], (Sizes{64}));
}

TEST(RowGrid, oneRowHasNoStride) {
  const Program program = norm();
  for (const Sizes &shape : {Sizes{8}, Sizes{1, 8}, Sizes{1, 1, 8}}) {
    Made made = make(program, tensors(shape, {}));
    expectSamePlaces(program, made);
    EXPECT_EQ(made.grid.sizes, (Sizes{1}));
    EXPECT_EQ(made.grid.facts.axes, 1);
  }
}

TEST(RowGrid, stridesThatChangeCutTheAxisInEveryOperand) {
  const Program program = norm();
  Made made = make(program, tensors({4, 3, 8}, {100, 12, 1}));
  expectSamePlaces(program, made);
  EXPECT_EQ(made.grid.sizes, (Sizes{4, 3}));
  EXPECT_EQ(made.grid.strides[0], (Sizes{400, 48}));
  EXPECT_EQ(made.grid.strides[3], (Sizes{96, 32}));
  EXPECT_EQ(made.grid.facts.axes, 2);
}

TEST(RowGrid, rowsMayGoBackwardsOrStayAtOnePlace) {
  const Program program = norm();
  Made backwards = make(program, tensors({4, 8}, {-8, 1}, 1024));
  expectSamePlaces(program, backwards);
  EXPECT_EQ(backwards.grid.strides[0], (Sizes{-32}));
  EXPECT_TRUE(backwards.grid.facts.isAligned);
  Made same = make(program, tensors({4, 3, 8}, {0, 8, 1}));
  expectSamePlaces(program, same);
  EXPECT_EQ(same.grid.sizes, (Sizes{4, 3}));
  EXPECT_EQ(same.grid.strides[0], (Sizes{0, 32}));
}

TEST(RowGrid, operandsMayCutTheAxisAtDifferentPlaces) {
  const Program program = norm();
  List list;
  list.add("f32", at(0), {2, 12, 8}, {1000, 8, 1});
  list.add("f32", at(1 << 22), {8});
  list.add("f32", at(1 << 23), {8, 3}, {7, 2});
  list.add("f32", at(1 << 24), {24, 8});
  Made made = make(program, list);
  expectSamePlaces(program, made);
  EXPECT_EQ(made.grid.sizes, (Sizes{2, 4, 3}));
}

TEST(RowGrid, cutsWithoutACommonDivisorAreRefused) {
  List list;
  list.add("f32", at(0), {3, 2, 8}, {1000, 8, 1});
  list.add("f32", at(1 << 22), {8});
  list.add("f32", at(1 << 23), {2, 3}, {70, 2});
  list.add("f32", at(1 << 24), {6, 8});
  EXPECT_EQ(make(norm(), list).error,
            "expected rows that stand on at most 8 axes with common strides, got dimensions that "
            "divide 3 rows and 2 in different ways; make the tensors contiguous");
}

TEST(RowGrid, moreThanEightAxesAreRefused) {
  Sizes shape(9, 2), strides;
  for (int64_t apart = 1 << 16; shape.size() > strides.size(); apart -= 1 << 12)
    strides.push_back(apart);
  shape.push_back(8), strides.push_back(1);
  EXPECT_NE(make(norm(), tensors(shape, strides)).error.find("at most 8 axes"), std::string::npos);
}

TEST(RowGrid, whatDoesNotFitIntoARecordIsRefused) {
  const int64_t wide = int64_t(1) << 32;
  EXPECT_NE(make(norm(), tensors({1, wide}, {}, 0, int64_t(1) << 40))
                .error.find("rows of at most 4294967295 elements"),
            std::string::npos);
  List list; // every row at one place, and cut in two
  list.add("f32", at(0), {2, wide, 1}, {1 << 20, 0, 1});
  list.add("f32", at(1 << 22), {1});
  list.add("f32", at(1 << 23), {2, wide}, {1, 0});
  list.add("f32", at(1 << 24), {2, wide, 1}, {1 << 20, 0, 1});
  Program program = norm();
  program.operands.back() = operand("z", {"row", "column"});
  EXPECT_NE(make(program, list).error.find("at most 4294967295 places on an axis"),
            std::string::npos);
}

TEST(RowGrid, rowsBeyond31BitsAreWide) {
  Program program = norm();
  program.operands = {operand("x", {"row", "column"})};
  auto isWide = [&](int64_t rows) {
    List list;
    list.add("f32", at(0), {rows, 8}, {0, 1});
    return make(program, list).grid.facts.isWide;
  };
  EXPECT_FALSE(isWide(INT32_MAX));
  EXPECT_TRUE(isWide(int64_t(INT32_MAX) + 1));
}

RowFacts factsOf(int64_t columns, int64_t xAt, int64_t yAt, int64_t apart = 0) {
  const Sizes strides = apart ? Sizes{apart, 1} : Sizes{};
  Made made = make(norm(), tensors({5, columns}, strides, xAt, (1 << 24) + yAt));
  EXPECT_EQ(made.error, "");
  return made.grid.facts;
}

TEST(RowGrid, alignedIsEveryRow) {
  EXPECT_TRUE(factsOf(64, 0, 0).isAligned);
  EXPECT_TRUE(factsOf(63, 0, 0).isTogether);
  EXPECT_FALSE(factsOf(63, 0, 0).isAligned) << "the second row is off";
  EXPECT_FALSE(factsOf(64, 4, 0).isAligned);
  EXPECT_FALSE(factsOf(64, 0, 0, 66).isAligned);
  EXPECT_TRUE(factsOf(63, 0, 0, 64).columns == 63);
  EXPECT_FALSE(factsOf(63, 0, 0, 64).isTogether) << "x has rows on boundaries, y has not";
}

TEST(RowGrid, togetherIsTheSameDistanceFromABoundary) {
  EXPECT_TRUE(factsOf(64, 4, 4).isTogether);
  EXPECT_TRUE(factsOf(64, 4, 4 + 16).isTogether);
  EXPECT_FALSE(factsOf(64, 4, 8).isTogether);
  EXPECT_FALSE(factsOf(64, 2, 2).isTogether) << "between elements";
  EXPECT_TRUE(factsOf(61, 0, 0, 65).isTogether) << "rows of either move by one element";
}

TEST(RowGrid, aWeightOffABoundaryUnalignsButIsNoStream) {
  List list = tensors({5, 64}, {});
  list.tensors[1].data = at((1 << 22) + 4);
  Made made = make(norm(), list);
  EXPECT_FALSE(made.grid.facts.isAligned);
  EXPECT_TRUE(made.grid.facts.isTogether);
}

TEST(RowGrid, narrowAndWideStreamsAgreeInElements) {
  Program program = norm();
  program.operands[3] = operand("y", {"row", "column"}, true, 2);
  List list = tensors({5, 64}, {}, 4);
  list.tensors[3] = list.add("bf16", at((1 << 24) + 2), {5, 64});
  list.tensors.pop_back();
  const RowFacts facts = make(program, list).grid.facts;
  EXPECT_TRUE(facts.isTogether) << "one element behind a boundary, of 4 bytes and of 2";
  EXPECT_FALSE(facts.isAligned);
}

TEST(RowGrid, namedAxesStandAsTheyAre) {
  Program program;
  program.header = {.axes = {"batch", "head", "query", "key"}};
  program.operands = {operand("x", program.header.axes),
                      operand("mask", {"batch", "1", "1", "key"}),
                      operand("y", program.header.axes, true)};
  program.stages.emplace_back().kernel.emplace();
  List list;
  list.add("f32", at(0), {2, 3, 4, 8});
  list.add("f32", at(1 << 22), {2, 1, 1, 8});
  list.add("f32", at(1 << 24), {2, 3, 4, 8}, {96, 8, 24, 1}); // heads behind queries
  Made made = make(program, list);
  expectSamePlaces(program, made);
  EXPECT_EQ(made.grid.sizes, (Sizes{2, 3, 4}));
  EXPECT_EQ(made.grid.strides[1], (Sizes{32, 0, 0}));
  EXPECT_EQ(made.grid.strides[2], (Sizes{384, 32, 96}));
  EXPECT_TRUE(made.grid.facts.isAligned);
}

} // namespace
