#include "runtime/plan/Chunks.h"

#include <gtest/gtest.h>

#include <array>

using namespace fw;
using namespace fw::plan;

namespace {

const unsigned kF32AndBf16[] = {4, 2};
const ChunkRule kRule = {.chunk = 8192, .vec = 4, .bytes = kF32AndBf16};

/// Records of segments whose operands all stand at the same two addresses.
std::vector<Chunk> plan(std::vector<uint64_t> counts, std::array<uint64_t, 2> at,
                        const ChunkRule &rule = kRule) {
  std::vector<ListSegment> list;
  std::vector<std::vector<uint64_t>> columns(2);
  for (uint64_t count : counts) {
    const uint32_t number = uint32_t(list.size());
    list.push_back({.count = count, .segment = number, .group = 10 + number, .entry = 20 + number});
    columns[0].push_back(at[0]);
    columns[1].push_back(at[1]);
  }
  const std::vector<std::span<const uint64_t>> spans(columns.begin(), columns.end());
  return planChunks(list, spans, rule);
}

TEST(chunks, an_aligned_tensor_has_no_head) {
  const uint64_t at[] = {0x1000, 0x2000};
  EXPECT_EQ(headOf(100, at, kRule), 0u);
}

TEST(chunks, operands_that_are_off_by_the_same_elements_share_a_head) {
  const uint64_t at[] = {0x1000 + 4, 0x2000 + 2}; // both one element off
  EXPECT_EQ(headOf(100, at, kRule), 3u);
  EXPECT_EQ(headOf(7, at, kRule), 3u);
  EXPECT_EQ(headOf(6, at, kRule), Segment::NO_VECTORS);
}

TEST(chunks, operands_that_never_meet_go_one_by_one) {
  const uint64_t at[] = {0x1000 + 4, 0x2000};
  EXPECT_EQ(headOf(100, at, kRule), Segment::NO_VECTORS);
  auto records = plan({10000}, {at[0], at[1]});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].head, records[0].count);
  EXPECT_EQ(records[1].first, 8192u);
  EXPECT_EQ(records[1].head, records[1].count);
}

TEST(chunks, empty_segments_vanish_and_rows_keep_their_numbers) {
  auto records = plan({0, 5, 0}, {0x1000, 0x2000});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].count, 5u);
  EXPECT_EQ(records[0].segment, 1u);
  EXPECT_EQ(records[0].group, 11u);
  EXPECT_EQ(records[0].entry, 21u);
}

TEST(chunks, records_cover_every_element_once_and_stay_aligned) {
  const uint64_t at[] = {0x1000 + 8, 0x2000 + 4};
  for (uint64_t count : {1u, 3u, 4u, 8191u, 8192u, 8193u, 8194u, 16384u, 16387u, 100000u}) {
    uint64_t next = 0;
    for (const Chunk &record : plan({count}, {at[0], at[1]})) {
      EXPECT_EQ(record.first, next);
      ASSERT_LE(record.head, record.count);
      if (record.head != record.count) {
        EXPECT_EQ((at[0] + (record.first + record.head) * 4) % 16, 0u);
      }
      next += record.count;
    }
    EXPECT_EQ(next, count);
  }
}

TEST(chunks, the_first_record_has_the_head_on_top) {
  auto records = plan({8192 + 2, 8192 + 3}, {0x1000 + 8, 0x2000 + 4});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].head, 2u);
  EXPECT_EQ(records[0].count, 8194u);
  EXPECT_EQ(records[1].count, 8194u);
  EXPECT_EQ(records[2].first, 8194u);
  EXPECT_EQ(records[2].head, 0u);
}

TEST(chunks, blocks_are_as_many_as_records) {
  const uint64_t aligned[] = {0x1000, 0x2000}, off[] = {0x1000 + 8, 0x2000 + 4},
                 never[] = {0x1000 + 4, 0x2000};
  for (const auto &at : {aligned, off, never})
    for (uint64_t count : {0u, 1u, 5u, 8192u, 8193u, 8194u, 8195u, 100000u}) {
      const Segment segment{.count = count, .head = headOf(count, std::span(at, 2), kRule)};
      EXPECT_EQ(blocksOf(segment, kRule.chunk), plan({count}, {at[0], at[1]}).size()) << count;
    }
}

TEST(chunks, index_arithmetic_holds_past_two_to_the_32) {
  const uint64_t count = (uint64_t(1) << 32) + 1;
  const ChunkRule rule = {.chunk = 1 << 20, .vec = 4, .bytes = kF32AndBf16};
  for (std::array<uint64_t, 2> at : {std::array<uint64_t, 2>{0x1000, 0x2000}, {0x1004, 0x2000}}) {
    auto records = plan({count}, at, rule);
    EXPECT_EQ(records.size(), 4097u);
    EXPECT_EQ(records.back().first, uint64_t(1) << 32);
    EXPECT_EQ(records.back().count, 1u);
  }
}

} // namespace
