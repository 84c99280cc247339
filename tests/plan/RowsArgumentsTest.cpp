#include "runtime/plan/RowsArguments.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using namespace fw;
using namespace fw::plan;

namespace {

template <int OPERANDS, int AXES, int SLOTS, class Real> void expectLayout() {
  SCOPED_TRACE(testing::Message() << OPERANDS << " operands, " << AXES << " axes, " << SLOTS
                                  << " slots of " << sizeof(Real));
  using Launch = RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  using Record = RowsRecord<OPERANDS, AXES>;
  constexpr RowsLayout layout(OPERANDS, AXES, SLOTS, sizeof(Real));
  EXPECT_EQ(offsetof(Launch, scalars), layout.scalars);
  EXPECT_EQ(offsetof(Launch, policy), layout.policy);
  EXPECT_EQ(offsetof(Launch, columns), layout.columns);
  EXPECT_EQ(offsetof(Launch, recordCount), layout.recordCount);
  EXPECT_EQ(offsetof(Launch, zero), layout.zero);
  EXPECT_EQ(offsetof(Launch, records), layout.records);
  EXPECT_EQ(offsetof(Launch, numbers), layout.numbers);
  EXPECT_EQ(sizeof(Launch), layout.bytes);
  EXPECT_EQ(offsetof(Record, addresses), layout.addresses);
  EXPECT_EQ(offsetof(Record, strides), layout.strides);
  EXPECT_EQ(offsetof(Record, rows), layout.rows);
  EXPECT_EQ(offsetof(Record, sizes), layout.sizes);
  EXPECT_EQ(offsetof(Record, firstBlock), layout.firstBlock);
  EXPECT_EQ(offsetof(Record, row), layout.row);
  EXPECT_EQ(sizeof(Record), layout.recordBytes);
}

TEST(rows_arguments, layout_is_that_of_the_kernels_struct) {
  expectLayout<1, 1, 0, float>();
  expectLayout<2, 1, 1, double>();
  expectLayout<4, 1, 2, float>();
  expectLayout<4, 2, 2, float>();
  expectLayout<6, 3, 3, double>();
  expectLayout<3, 8, 1, float>();
  expectLayout<9, 1, 17, double>();
  expectLayout<40, 1, 5, float>();
}

TEST(rows_arguments, usual_ops_have_room_for_lists) {
  EXPECT_EQ(RowsArguments(4, 1, 2, false).recordRoom(), size_t(INLINE_SEGMENTS));
  EXPECT_EQ(RowsArguments(4, 1, 2, false).rowRoom(), size_t(INLINE_ROWS));
  EXPECT_EQ(RowsArguments(4, 1, 0, false).rowRoom(), size_t(INLINE_ROWS));
  EXPECT_LT(RowsArguments(12, 8, 2, false).recordRoom(), size_t(INLINE_SEGMENTS));
  EXPECT_TRUE(RowsArguments(12, 8, 2, false).fits());
}

TEST(rows_arguments, an_op_that_is_too_large_is_told) {
  EXPECT_FALSE(RowsArguments(200, 8, 2, false).fits());
  EXPECT_EQ(RowsArguments(4, 1, 1000, true).rowRoom(), 0u);
}

/// What a kernel would read.
template <class Launch> std::unique_ptr<Launch> read(const RowsArguments &arguments) {
  auto launch = std::make_unique<Launch>();
  EXPECT_EQ(arguments.bytes().size(), sizeof(Launch));
  std::memcpy(static_cast<void *>(launch.get()), arguments.bytes().data(), sizeof(Launch));
  return launch;
}

TEST(rows_arguments, start_without_records_and_tables) {
  auto launch = read<RowsLaunch<2, 1, 1, float>>(RowsArguments(2, 1, 1, false));
  EXPECT_EQ(launch->scalars, nullptr);
  EXPECT_EQ(launch->recordCount, 0u);
  EXPECT_EQ(launch->zero, 0u);
}

TEST(rows_arguments, records_reach_their_members) {
  RowsArguments arguments(2, 3, 2, false);
  const uint64_t first[] = {0x10, 0x20}, second[] = {0x30, 0x40};
  const int64_t strides[] = {96, 32, 8, -4, 0, 1 << 20}, sizes[] = {7, 1, 5};
  arguments.policy(L2::EVICT_LAST);
  arguments.columns(4097);
  arguments.recordCount(2);
  arguments.record(0, first, strides, sizes, 35, 0, 0);
  arguments.record(1, second, strides, sizes, uint64_t(1) << 40, 9, 1);
  auto launch = read<RowsLaunch<2, 3, 2, float>>(arguments);
  EXPECT_EQ(launch->policy, L2::EVICT_LAST);
  EXPECT_EQ(launch->columns, 4097u);
  EXPECT_EQ(launch->recordCount, 2u);
  const auto &one = launch->records[0], &other = launch->records[1];
  EXPECT_EQ(one.addresses[1], 0x20u);
  EXPECT_EQ(one.strides[0][0], 96u);
  EXPECT_EQ(one.strides[0][2], 8u);
  EXPECT_EQ(int64_t(one.strides[1][0]), -4);
  EXPECT_EQ(one.strides[1][1], 0u);
  EXPECT_EQ(one.sizes[0], 7u);
  EXPECT_EQ(one.sizes[2], 5u);
  EXPECT_EQ(one.rows, 35u);
  EXPECT_EQ(other.addresses[0], 0x30u);
  EXPECT_EQ(other.rows, uint64_t(1) << 40);
  EXPECT_EQ(other.firstBlock, 9u);
  EXPECT_EQ(other.row, 1u);
}

TEST(rows_arguments, scalars_are_rounded_once) {
  const double numbers[] = {1.0 + 0x1p-24, 1.0 + 0x1p-24 + 0x1p-50};
  RowsArguments floats(1, 1, 2, false), doubles(1, 1, 2, true);
  floats.row(1, numbers);
  doubles.row(1, numbers);
  auto f32 = read<RowsLaunch<1, 1, 2, float>>(floats);
  EXPECT_EQ(f32->numbers[2], 1.0f); // a tie, to even
  EXPECT_EQ(f32->numbers[3], 1.0f + 0x1p-23f);
  EXPECT_EQ((read<RowsLaunch<1, 1, 2, double>>(doubles)->numbers[3]), numbers[1]);
}

} // namespace
