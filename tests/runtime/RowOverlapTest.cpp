// Sharing of memory between the tensors of a launch over rows. Addresses are numbers here.
#include "runtime/launch/RowEntries.h"

#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

using namespace fw;
using namespace fw::launch;

namespace {

float *at(size_t element) { return reinterpret_cast<float *>(1 << 20) + element; }

/// x and y [row, column], a statistic s [row]; y and s are written.
std::string errorOf(const List &list, bool swaps = false) {
  Program program;
  program.header = {.axes = {"row", "column"}, .isRows = true, .swaps = swaps};
  auto operand = [&](const char *name, std::vector<std::string> axes, bool written) {
    const Scope scope = axes.size() > 1 ? Scope::Element : Scope::Axes;
    program.operands.push_back({.name = name,
                                .dtype = "f32",
                                .bytes = 4,
                                .read = !written,
                                .written = written,
                                .scope = scope,
                                .axes = std::move(axes)});
  };
  operand("x", program.header.axes, false);
  operand("y", program.header.axes, true);
  operand("s", {"row"}, true);
  program.axes = AxisTable(program.header, program.operands);
  program.stages.emplace_back().kernel.emplace();
  auto input = readRows(program, list.array(), {nullptr, 0}, {});
  return input ? "" : render(input.error());
}

struct Place {
  size_t element;
  std::vector<int64_t> strides = {};
};

/// An entry of 4 rows of 8 columns.
void add(List &list, Place x, Place y, Place s) {
  list.add("f32", at(x.element), {4, 8}, std::move(x.strides));
  list.add("f32", at(y.element), {4, 8}, std::move(y.strides));
  list.add("f32", at(s.element), {4}, std::move(s.strides));
}
std::string sharing(Place x, Place y, Place s = {10000}, bool swaps = false) {
  List list;
  add(list, std::move(x), std::move(y), std::move(s));
  return errorOf(list, swaps);
}

std::string refused(const std::string &written, const std::string &other) {
  return "expected memory of its own for written operand '" + written + "', got some that " +
         other +
         " has too; pass other memory, or the very tensor that is only read, with its "
         "strides";
}

TEST(RowOverlap, separateTensorsAreApart) {
  EXPECT_EQ(sharing({0}, {32}), "");
  EXPECT_EQ(sharing({32}, {0}), "");
  EXPECT_EQ(sharing({0}, {31}), refused("y", "'x'"));
  EXPECT_EQ(sharing({31}, {0}), refused("y", "'x'"));
}

TEST(RowOverlap, rowsMayBeWrittenWhereTheyAreRead) {
  EXPECT_EQ(sharing({0}, {0}), "");
  EXPECT_EQ(sharing({0, {16, 1}}, {0, {16, 1}}), "");
  EXPECT_EQ(sharing({0, {16, 1}}, {0}), refused("y", "'x'"));
  EXPECT_EQ(sharing({0}, {0}, {10000}, true), refused("y", "'x'")) << "rows are read elsewhere";
}

TEST(RowOverlap, halvesOfOneTensorAreApart) {
  EXPECT_EQ(sharing({0, {16, 1}}, {8, {16, 1}}), "");
  EXPECT_EQ(sharing({8, {16, 1}}, {0, {16, 1}}), "");
  EXPECT_EQ(sharing({0, {16, 1}}, {7, {16, 1}}), refused("y", "'x'"));
  EXPECT_EQ(sharing({0, {16, 1}}, {8, {16, 1}}, {15, {16}}), refused("s", "'y'"));
  EXPECT_EQ(sharing({0, {17, 1}}, {8, {17, 1}}, {16, {17}}), "");
}

TEST(RowOverlap, rowsMayGoBackwards) {
  EXPECT_EQ(sharing({24, {-8, 1}}, {32}), "");
  EXPECT_EQ(sharing({56, {-8, 1}}, {0}), "");
  EXPECT_EQ(sharing({48, {-8, 1}}, {0}), refused("y", "'x'"));
}

TEST(RowOverlap, writtenRowsHavePlacesOfTheirOwn) {
  EXPECT_EQ(sharing({0, {0, 1}}, {32}), "");
  EXPECT_NE(sharing({0}, {32, {0, 1}}).find("a place of its own for each row"), std::string::npos);
  EXPECT_NE(sharing({0}, {32}, {100, {0}}).find("a place of its own for each row"),
            std::string::npos);
}

TEST(RowOverlap, entriesShareWhatIsOnlyRead) {
  List apart, read, chained, written;
  add(apart, {0}, {32}, {1000}), add(apart, {64}, {96}, {1004});
  add(read, {0}, {32}, {1000}), add(read, {0}, {96}, {1004});
  add(chained, {0}, {32}, {1000}), add(chained, {32}, {96}, {1004});
  add(written, {0}, {32}, {1000}), add(written, {64}, {96}, {1003});
  EXPECT_EQ(errorOf(apart), "");
  EXPECT_EQ(errorOf(read), "");
  EXPECT_EQ(errorOf(chained), refused("y", "'x' of entry 1"));
  EXPECT_EQ(errorOf(written), refused("s", "'s' of entry 0"));
}

TEST(RowOverlap, emptyTensorsHaveNoMemory) {
  List list;
  add(list, {0}, {32}, {1000});
  list.add("f32", at(32), {0, 8});
  list.add("f32", at(32), {0, 8});
  list.add("f32", at(32), {0});
  EXPECT_EQ(errorOf(list), "");
}

} // namespace
