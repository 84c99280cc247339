#include "runtime/plan/Chunks.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace fw;
using namespace fw::plan;

namespace {

const unsigned kF32AndBf16[] = {4, 2};
const ChunkRule kRule = {.chunk = 8192, .vec = 4, .bytes = kF32AndBf16};

ListEntry entry(uint64_t count, std::span<const uint64_t> addresses) {
  return {.count = count, .addresses = addresses};
}

TEST(chunks, an_aligned_tensor_has_no_head) {
  const uint64_t at[] = {0x1000, 0x2000};
  EXPECT_EQ(headOf(entry(100, at), kRule), 0u);
}

TEST(chunks, operands_that_are_off_by_the_same_elements_share_a_head) {
  const uint64_t at[] = {0x1000 + 4, 0x2000 + 2}; // both one element off
  EXPECT_EQ(headOf(entry(100, at), kRule), 3u);
}

TEST(chunks, operands_that_never_meet_go_one_by_one) {
  const uint64_t at[] = {0x1000 + 4, 0x2000};
  EXPECT_EQ(headOf(entry(100, at), kRule), 100u);
  auto records = planChunks(std::vector{entry(10000, at)}, kRule);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].first, 8192u);
  EXPECT_EQ(records[1].head, records[1].count);
}

TEST(chunks, empty_tensors_vanish_and_rows_keep_their_numbers) {
  const uint64_t at[] = {0x1000, 0x2000};
  auto records = planChunks(std::vector{entry(0, at), entry(5, at), entry(0, at)}, kRule);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].tensor, 1u);
  EXPECT_EQ(records[0].count, 5u);
}

TEST(chunks, records_cover_every_element_once_and_stay_aligned) {
  const uint64_t at[] = {0x1000 + 8, 0x2000 + 4};
  for (uint64_t count : {1u, 3u, 4u, 8191u, 8192u, 8193u, 8194u, 16384u, 16387u, 100000u}) {
    uint64_t next = 0;
    for (const Chunk &record : planChunks(std::vector{entry(count, at)}, kRule)) {
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

TEST(chunks, index_arithmetic_holds_past_two_to_the_32) {
  const uint64_t at[] = {0x1000, 0x2000};
  const uint64_t count = (uint64_t(1) << 32) + 1;
  const ChunkRule rule = {.chunk = 1 << 20, .vec = 4, .bytes = kF32AndBf16};
  auto records = planChunks(std::vector{entry(count, at)}, rule);
  EXPECT_EQ(records.size(), 4097u);
  EXPECT_EQ(records.back().first, uint64_t(1) << 32);
  EXPECT_EQ(records.back().count, 1u);
}

} // namespace
