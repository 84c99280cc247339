// The rule that schedules the skeletons of pattern `rows`, on streams and limits given as numbers.
#include "compiler/passes/rules/Rows.h"

#include <gtest/gtest.h>
#include <random>

namespace fw::passes {
namespace {

// Limits of an H200's SM, and of the smallest supported one.
constexpr RowsLimits kLarge{65536, 255, 2048, 1024, 32, 233472},
    kSmall{65536, 255, 1024, 1024, 16, 65536};

RowsWork rmsNorm(unsigned bytes = 2) {
  return {
      .streams = {{bytes, true, false}, {bytes, false, true}}, .shared = {{bytes}}, .values = 1};
}
RowsWork layerNorm(unsigned bytes = 2) {
  return {.streams = {{bytes, true, false}, {bytes, false, true}},
          .shared = {{bytes}, {bytes}},
          .values = 3};
}
RowsWork softmax(unsigned bytes = 2) {
  return {.streams = {{bytes, true, false}, {bytes, false, true}}, .shared = {}, .values = 2};
}
RowsWork softmaxBackward(unsigned bytes = 2) {
  return {.streams = {{bytes, true, false}, {bytes, true, false}, {bytes, false, true}},
          .shared = {},
          .values = 1};
}
RowsWork rmsNormBackward(unsigned bytes = 2) {
  RowsWork work = softmaxBackward(bytes);
  work.shared = {{bytes, true}};
  return work;
}

RowsSchedule schedule(const RowsWork &work, int64_t columns, bool aligned = true,
                      const ScheduleOverrides &overrides = {}, const RowsLimits &limits = kLarge) {
  auto chosen = scheduleRows(work, {.columns = columns, .aligned = aligned}, limits, overrides);
  EXPECT_TRUE(chosen) << render(chosen.error());
  return *chosen;
}

std::string refusal(const RowsFacts &facts, const ScheduleOverrides &overrides) {
  auto chosen = scheduleRows(rmsNorm(), facts, kLarge, overrides);
  return chosen ? "accepted" : render(chosen.error());
}

/// What must hold of every schedule, whatever the row.
void expectSound(const RowsWork &work, const RowsFacts &facts, const RowsLimits &limits) {
  auto chosen = scheduleRows(work, facts, limits);
  ASSERT_TRUE(chosen) << render(chosen.error());
  const RowsSchedule &s = *chosen;
  const int64_t places = placesOf(work, facts, s.vec, s.lined);
  const int64_t room = s.threadsPerRow * s.vectors * s.steps;
  EXPECT_GE(room, places);
  EXPECT_EQ(s.threads % s.threadsPerRow, 0);
  EXPECT_EQ(s.threads % 32, 0);
  EXPECT_LE(s.threads, limits.threadsPerBlock);
  EXPECT_LE(s.blocksPerSm * s.threads, limits.threadsPerSm);
  EXPECT_LE(s.vec * work.streams[0].bytes, 16);
  EXPECT_TRUE(s.steps == 1 || s.keep == Keep::reread);
  // Registers that all resident blocks have: what is held, and a part for the work.
  const int64_t registers = limits.registersPerSm / (s.blocksPerSm * s.threads);
  EXPECT_GE(registers, std::min<int64_t>(estimateRegisters(work, facts, s), 64));
  EXPECT_GE(registers, bytesInFlight(work, s) / 4 + 32);
  // Lanes without a vector, once a row has one for each of a warp. Threads hold fewer vectors of
  // each of two streams, so there are fewer cuts to choose from.
  const double mostIdle = work.streams.size() > 2 ? 0.34 : s.steps > 1 ? 0.26 : 0.2;
  const double idle = double(room - places) / double(room);
  if (places >= 32)
    EXPECT_LE(idle, mostIdle) << s.threadsPerRow << "x" << s.vectors << " " << places;
  // Bytes asked for at a time by an SM, those of empty places left out: enough to hide memory's
  // latency, and not so many that a block waits for its own.
  const double inFlight = double(bytesInFlight(work, s) * s.blocksPerSm * s.threads) * (1 - idle);
  const double least = s.steps == 1 ? 40 : facts.aligned && !facts.bounded ? 34 : 26;
  if (s.vec > 1 && places >= 8)
    EXPECT_GE(inFlight, least * 1024)
        << s.threadsPerRow << "x" << s.vectors << " b" << s.blocksPerSm;
  EXPECT_LE(inFlight, 128 * 1024);
}

TEST(RowsRule, FiveHundredRandomWidths) {
  std::mt19937 random(7);
  const RowsWork works[] = {rmsNorm(),         layerNorm(),       softmax(),  softmaxBackward(),
                            rmsNorm(4),        layerNorm(4),      softmax(1), softmaxBackward(4),
                            rmsNormBackward(), rmsNormBackward(4)};
  for (int k = 0; k < 500; ++k) {
    // As many narrow as wide ones, up to 2^20.
    const int64_t columns = int64_t(std::exp2(double(random() % 2000) / 100));
    for (const RowsWork &work : works)
      for (const RowsLimits &limits : {kLarge, kSmall})
        for (int alignment : {0, 1, 2, 3}) {
          SCOPED_TRACE(std::to_string(columns) + " columns of " +
                       std::to_string(work.streams[0].bytes) + " bytes, " +
                       std::to_string(work.streams.size()) + " streams, alignment " +
                       std::to_string(alignment));
          expectSound(work,
                      {.columns = columns,
                       .aligned = alignment % 2 == 1,
                       .together = alignment != 2,
                       .bounded = alignment == 3},
                      limits);
        }
  }
}

TEST(RowsRule, AnyWidthIsReadAgain) {
  const RowsSchedule any = schedule(rmsNorm(), 0, false);
  EXPECT_EQ(any.keep, Keep::reread);
  EXPECT_EQ(any.steps, 0);
  EXPECT_EQ(any.vec, 8);
}

TEST(RowsRule, SingleElementsOfAnyWidthAreAskedForInLargerNumbers) {
  auto single = scheduleRows(rmsNorm(), {.columns = 0, .together = false}, kLarge);
  ASSERT_TRUE(single);
  EXPECT_EQ(single->vec, 1);
  EXPECT_EQ(single->vectors, 8);
  EXPECT_EQ(schedule(rmsNorm(), 0, false).vectors, 2);
}

/// Reductions that read operands of columns ask for those of all vectors at once: threads have
/// fewer vectors where an SM has few blocks, and do not keep what both passes read.
TEST(RowsRule, OperandsOfColumnsThatReductionsReadTakeRegisters) {
  const RowsWork without = softmaxBackward(), with = rmsNormBackward();
  EXPECT_EQ(schedule(without, 8192).vectors, 4);
  const RowsSchedule held = schedule(with, 8192);
  EXPECT_EQ(held.keep, Keep::registers);
  EXPECT_EQ(held.vectors, 2);
  EXPECT_EQ(held.threadsPerRow * held.blocksPerSm, 1024);
  for (int64_t columns : {16384, 32768, 65536}) {
    const RowsSchedule again = schedule(with, columns);
    EXPECT_EQ(again.keep, Keep::reread) << columns;
    EXPECT_EQ(again.vectors, 2) << columns;
    EXPECT_TRUE(again.fresh) << columns;
  }
  EXPECT_FALSE(schedule(without, 65536).fresh);
}

TEST(RowsRule, ShiftedOperandsOfColumnsCostABlock) {
  EXPECT_EQ(schedule(layerNorm(), 4097, false).blocksPerSm, 7);
  EXPECT_EQ(schedule(softmax(), 1024, false).threads, 128);
  EXPECT_EQ(schedule(softmax(), 1024, false).blocksPerSm, 8);
}

TEST(RowsRule, TheOtherCandidateDecodesAgainOrHasMoreRegisters) {
  const RowsSchedule kept = schedule(rmsNorm(), 4096);
  ASSERT_FALSE(kept.fresh);
  const RowsSchedule fresh = otherCandidate(kept).value();
  EXPECT_TRUE(fresh.fresh);
  EXPECT_EQ(fresh.blocksPerSm, kept.blocksPerSm);
  EXPECT_EQ(otherCandidate(fresh)->blocksPerSm, kept.blocksPerSm - 1);
  EXPECT_EQ(otherCandidate(schedule(rmsNorm(), 65536)), std::nullopt); // one block, read again
}

TEST(RowsRule, WhatIsNotFixedFollowsFromWhatIs) {
  EXPECT_EQ(schedule(rmsNorm(), 4096, true, {{"threads_per_row", 128}}).vectors, 4);
  EXPECT_EQ(schedule(rmsNorm(), 4096, true, {{"vectors", 4}, {"threads_per_row", 128}}).steps, 1);
  EXPECT_EQ(schedule(rmsNorm(), 4096, true, {{"keep", 1}, {"threads_per_row", 64}}).steps, 4);
  EXPECT_EQ(schedule(rmsNorm(), 1024, true, {{"rows_per_thread", 2}}).rowsPerBlock(),
            2 * schedule(rmsNorm(), 1024).rowsPerBlock());
}

TEST(RowsRule, RefusesWhatCannotWork) {
  const RowsFacts wide{.columns = 4096, .aligned = true}, odd{.columns = 4097};
  EXPECT_EQ(refusal(wide, {{"vec", 16}}),
            "expected vec to be a power of two up to 8 (16 bytes of the widest stream), got 16; "
            "choose a smaller vector, or narrower dtypes");
  EXPECT_EQ(refusal(wide, {{"threads_per_row", 48}}),
            "expected threads_per_row to be a power of two below 32, or a multiple of 32, got 48; "
            "round it up");
  EXPECT_EQ(
      refusal(wide, {{"threads_per_row", 64}, {"threads", 96}}),
      "expected threads to be a multiple of 32 and of threads_per_row = 64, at most 1024, got "
      "96; round it up");
  EXPECT_EQ(refusal(wide, {{"threads_per_row", 64}, {"vectors", 4}}),
            "expected vectors to be at least 8 for a row in registers, got 4; choose more, more "
            "threads_per_row, or reread");
  EXPECT_EQ(refusal(odd, {{"rows_per_thread", 2}}),
            "expected rows_per_thread to be 1 for rows that are not aligned, got 2; leave it out");
  EXPECT_EQ(refusal({}, {{"keep", 0}}),
            "expected keep to be reread for rows of any width, got 0; leave it out");
  EXPECT_EQ(refusal(wide, {{"threads_per_row", 512}, {"blocks_per_sm", 5}}),
            "expected blocks_per_sm to be at most 4 blocks of 512 threads, got 5; choose fewer, or "
            "leave it to the rule");
}

} // namespace
} // namespace fw::passes
