#include "runtime/plan/ElementsArguments.h"
#include "runtime/plan/ReduceArguments.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace fw;
using namespace fw::plan;

namespace {

/// The members that every kernel's struct has.
template <class Launch, class Layout> void expectOffsets(const Layout &layout) {
  SCOPED_TRACE(testing::Message() << layout.bytes << " bytes");
  EXPECT_EQ(offsetof(Launch, chunks), 0u);
  EXPECT_EQ(offsetof(Launch, pointers), layout.pointers);
  EXPECT_EQ(offsetof(Launch, scalars), layout.scalars);
  EXPECT_EQ(offsetof(Launch, policy), layout.policy);
  EXPECT_EQ(offsetof(Launch, perEntry), layout.perEntry);
  EXPECT_EQ(offsetof(Launch, rows), layout.rows);
  EXPECT_EQ(sizeof(Launch), layout.bytes);
  EXPECT_LE(layout.bytes, PARAMETER_BYTES);
}

template <int OPERANDS, int SLOTS, class Real> void expectLayout() {
  using Launch = ElementsLaunch<OPERANDS, SLOTS, Real>;
  constexpr ElementsLayout layout(OPERANDS, SLOTS, sizeof(Real));
  expectOffsets<Launch>(layout);
  EXPECT_EQ(offsetof(Launch, segmentCount), layout.segmentCount);
  EXPECT_EQ(offsetof(Launch, segments), layout.segments);
  EXPECT_EQ(offsetof(Launch, addresses), layout.addresses);
}

TEST(arguments, layout_is_that_of_the_kernels_struct) {
  expectLayout<1, 0, float>();
  expectLayout<1, 1, float>();
  expectLayout<2, 0, double>();
  expectLayout<3, 5, float>();
  expectLayout<4, 9, float>();
  expectLayout<4, 9, double>();
  expectLayout<7, 31, double>();
  expectLayout<40, 200, double>();
  expectLayout<60, 7, float>();
  expectLayout<100, 1000, double>();
}

template <int OPERANDS, int SLOTS, class Real> void expectReduceLayout() {
  using Launch = ReduceLaunch<OPERANDS, SLOTS, Real>;
  constexpr ReduceLayout layout(OPERANDS, SLOTS, sizeof(Real));
  expectOffsets<Launch>(layout);
  EXPECT_EQ(offsetof(Launch, tail), layout.tail);
}

TEST(arguments, layout_of_reducing_kernels_is_that_of_their_struct) {
  expectReduceLayout<1, 0, float>();
  expectReduceLayout<1, 1, double>();
  expectReduceLayout<2, 3, float>();
  expectReduceLayout<7, 31, double>();
  expectReduceLayout<40, 200, double>();
  expectReduceLayout<100, 1000, double>();
}

TEST(arguments, tails_and_rows_reach_their_members) {
  ReduceArguments arguments(2, 2, false);
  ReduceTail tail = {};
  tail.partialCount = 7;
  tail.partialOffset = 3;
  tail.isLast = 1;
  arguments.chunks(0x1000);
  arguments.column(1, 0x3000);
  arguments.perEntry(true);
  arguments.tail(tail);
  const double numbers[] = {1, 2, 3, 4};
  arguments.rows(numbers);
  ReduceLaunch<2, 2, float> launch;
  ASSERT_EQ(arguments.bytes().size(), sizeof launch);
  std::memcpy(static_cast<void *>(&launch), arguments.bytes().data(), sizeof launch);
  EXPECT_EQ(uint64_t(launch.chunks), 0x1000u);
  EXPECT_EQ(uint64_t(launch.pointers[1]), 0x3000u);
  EXPECT_EQ(uint64_t(launch.scalars), 0u);
  EXPECT_EQ(launch.perEntry, 1u);
  EXPECT_EQ(launch.tail.partialCount, 7u);
  EXPECT_EQ(launch.tail.partialOffset, 3u);
  EXPECT_EQ(launch.tail.isLast, 1u);
  EXPECT_EQ(launch.rows[3], 4.0f);
  EXPECT_EQ(arguments.rowRoom(), size_t(INLINE_ROWS));
}

TEST(arguments, programs_of_usual_size_have_all_room) {
  ElementsArguments adamw(5, 10, false);
  EXPECT_EQ(adamw.segmentRoom(), size_t(INLINE_SEGMENTS));
  EXPECT_EQ(adamw.rowRoom(), size_t(INLINE_ROWS));
  EXPECT_EQ(ElementsArguments(2, 0, false).rowRoom(), size_t(INLINE_ROWS));
}

TEST(arguments, large_programs_have_less) {
  ElementsArguments many(60, 7, false);
  EXPECT_EQ(many.segmentRoom(), 7u);
  EXPECT_LT(ElementsArguments(4, 100, true).rowRoom(), size_t(INLINE_ROWS));
  EXPECT_EQ(ElementsArguments(4, 1000, true).rowRoom(), 0u);
}

/// What a kernel would read.
template <class Launch> Launch read(const ElementsArguments &arguments) {
  Launch launch;
  EXPECT_EQ(arguments.bytes().size(), sizeof launch);
  std::memcpy(&launch, arguments.bytes().data(), sizeof launch);
  return launch;
}

TEST(arguments, start_without_tables_and_segments) {
  auto launch = read<ElementsLaunch<2, 1, float>>(ElementsArguments(2, 1, false));
  EXPECT_EQ(launch.chunks, nullptr);
  EXPECT_EQ(launch.scalars, nullptr);
  EXPECT_EQ(launch.perEntry, 0u);
  EXPECT_EQ(launch.segmentCount, 0u);
}

TEST(arguments, tables_reach_their_members) {
  ElementsArguments arguments(2, 3, false);
  arguments.chunks(0x1000);
  arguments.column(0, 0x2000);
  arguments.column(1, 0x3000);
  arguments.scalars(0x4000);
  arguments.policy(L2::EVICT_LAST);
  arguments.perEntry(true);
  auto launch = read<ElementsLaunch<2, 3, float>>(arguments);
  EXPECT_EQ(uint64_t(launch.chunks), 0x1000u);
  EXPECT_EQ(uint64_t(launch.pointers[0]), 0x2000u);
  EXPECT_EQ(uint64_t(launch.pointers[1]), 0x3000u);
  EXPECT_EQ(uint64_t(launch.scalars), 0x4000u);
  EXPECT_EQ(launch.policy, L2::EVICT_LAST);
  EXPECT_EQ(launch.perEntry, 1u);
}

TEST(arguments, segments_reach_their_members) {
  ElementsArguments arguments(2, 0, false);
  const uint64_t first[] = {0x10, 0x20}, second[] = {0x30, 0x40};
  arguments.segment(0, {.count = 5, .head = 1, .firstBlock = 0, .row = 2, .reserved = 0}, first);
  arguments.segment(1, {.count = 6, .head = 3, .firstBlock = 4, .row = 5, .reserved = 0}, second);
  arguments.segmentCount(2);
  auto launch = read<ElementsLaunch<2, 0, float>>(arguments);
  EXPECT_EQ(launch.segmentCount, 2u);
  EXPECT_EQ(launch.segments[0].count, 5u);
  EXPECT_EQ(launch.segments[1].count, 6u);
  EXPECT_EQ(launch.segments[1].head, 3u);
  EXPECT_EQ(launch.segments[1].firstBlock, 4u);
  EXPECT_EQ(launch.segments[1].row, 5u);
  EXPECT_EQ(launch.addresses[0][1], 0x20u);
  EXPECT_EQ(launch.addresses[1][0], 0x30u);
}

TEST(arguments, rows_are_rounded_once) {
  const double numbers[] = {1.0 + 0x1p-24, 1.0 + 0x1p-24 + 0x1p-50, 3, 4};
  ElementsArguments floats(1, 2, false), doubles(1, 2, true);
  floats.rows(numbers);
  doubles.row(1, std::span(numbers).first(2));
  auto f32 = read<ElementsLaunch<1, 2, float>>(floats);
  EXPECT_EQ(f32.rows[0], 1.0f); // a tie, to even
  EXPECT_EQ(f32.rows[1], 1.0f + 0x1p-23f);
  EXPECT_EQ(f32.rows[3], 4.0f);
  EXPECT_EQ((read<ElementsLaunch<1, 2, double>>(doubles).rows[3]), numbers[1]);
  auto packed = floats.packRows(numbers);
  ASSERT_EQ(packed.size(), 4 * sizeof(float));
  EXPECT_EQ(std::memcmp(packed.data(), f32.rows, packed.size()), 0);
}

} // namespace
