// The rule that schedules skeleton `chunk`, on streams and limits given as numbers.
#include "compiler/passes/rules/Elements.h"

#include "compiler/dialect/ScheduleTable.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace fw::passes {
namespace {

// Limits of an H200's SM, and of the smallest supported one.
constexpr ElementsLimits kLarge{65536, 255, 2048, 1024}, kSmall{65536, 255, 1024, 1024};

OperandStream inPlace(unsigned bytes) { return {bytes, true, true}; }
OperandStream readOnly(unsigned bytes) { return {bytes, true, false}; }
OperandStream writeOnly(unsigned bytes) { return {bytes, false, true}; }

const ElementsStreams kAdamw{inPlace(4), readOnly(4), inPlace(4), inPlace(4)};

ElementsSchedule schedule(const ElementsStreams &streams, std::string_view overrides = "",
                          const ElementsLimits &limits = kLarge) {
  auto fixed = parseOverrides(overrides);
  EXPECT_TRUE(fixed) << render(fixed.error());
  auto result = scheduleElements(streams, limits, *fixed);
  EXPECT_TRUE(result) << render(result.error());
  return *result;
}

std::string refusal(std::string_view overrides) {
  auto fixed = parseOverrides(overrides);
  if (!fixed)
    return render(fixed.error());
  auto result = scheduleElements(kAdamw, kLarge, *fixed);
  return result ? "accepted" : render(result.error());
}

TEST(ElementsRule, AdamwRunsAsMeasured) {
  ElementsSchedule expected{
      .threads = 256, .vec = 4, .inflight = 1, .blocksPerSm = 5, .chunk = 2048};
  EXPECT_EQ(schedule(kAdamw), expected);
  expected.blocksPerSm = 4; // 1024 threads
  EXPECT_EQ(schedule(kAdamw, "", kSmall), expected);
}

TEST(ElementsRule, VectorIsSixteenBytesOfTheWidestStream) {
  EXPECT_EQ(schedule({readOnly(2), writeOnly(1)}).vec, 8);
  EXPECT_EQ(schedule({readOnly(1), writeOnly(1)}).vec, 16);
  EXPECT_EQ(schedule({readOnly(2), writeOnly(4)}).vec, 4);
  EXPECT_EQ(schedule({readOnly(8), writeOnly(1)}).vec, 2);
}

TEST(ElementsRule, FewStreamsHaveTwoVectorsInFlight) {
  ElementsSchedule expected{
      .threads = 512, .vec = 4, .inflight = 2, .blocksPerSm = 4, .chunk = 8192};
  EXPECT_EQ(schedule({readOnly(4), writeOnly(4)}), expected) << "scale";
  EXPECT_EQ(schedule({inPlace(4), readOnly(4)}).inflight, 2) << "sgd without momentum";
  EXPECT_EQ(schedule({inPlace(4), readOnly(4), inPlace(4)}).inflight, 1) << "lion";
  EXPECT_EQ(schedule({inPlace(2), readOnly(2), inPlace(2), inPlace(2)}).inflight, 2) << "bf16";
}

TEST(ElementsRule, AnSmHasAsManyBlocksAsRegistersAllow) {
  EXPECT_EQ(schedule({readOnly(4), writeOnly(1)}).blocksPerSm, 4) << "cast: 2048 threads";
  EXPECT_EQ(schedule({inPlace(2), readOnly(2), inPlace(2), inPlace(2)}).blocksPerSm, 2);
  EXPECT_EQ(schedule(ElementsStreams(4, inPlace(8))).blocksPerSm, 2) << "f64 arithmetic";
  EXPECT_EQ(schedule({readOnly(4), writeOnly(1)}, "", kSmall).blocksPerSm, 2) << "1024 threads";
}

TEST(ElementsRule, AnyNumberOfOperandsHasASchedule) {
  for (size_t count : {20u, 38u, 60u, 200u})
    for (unsigned bytes : {1u, 2u, 4u, 8u}) {
      ElementsStreams streams(count, inPlace(bytes));
      SCOPED_TRACE(std::to_string(count) + " streams of " + std::to_string(bytes) + " bytes");
      ElementsSchedule chosen = schedule(streams);
      EXPECT_EQ(chosen.inflight, 1);
      EXPECT_GE(chosen.vec, 1);
      EXPECT_GE(chosen.threads, 128);
      EXPECT_EQ(chosen.chunk % (chosen.threads * chosen.vec), 0);
    }
  EXPECT_EQ(schedule(ElementsStreams(20, readOnly(4))).vec, 4) << "smaller blocks before vectors";
}

TEST(ElementsRule, WhatIsNotFixedFollowsFromWhatIs) {
  ElementsSchedule expected{
      .threads = 128, .vec = 2, .inflight = 2, .blocksPerSm = 10, .chunk = 1024};
  EXPECT_EQ(schedule(kAdamw, "threads=128,vec=2"), expected) << "32 bytes are too few for one";
  EXPECT_EQ(schedule(kAdamw, "chunk=65536").chunk, 65536);
  EXPECT_EQ(schedule(kAdamw, "inflight=4").chunk, 16384);
}

TEST(ElementsRule, RefusesWhatCannotWork) {
  EXPECT_EQ(refusal("vec=8"), "expected vec to be a power of two up to 4 (16 bytes of the widest "
                              "stream), got 8; choose a smaller vector, or narrower dtypes");
  EXPECT_EQ(refusal("vec=3"), "expected vec to be a power of two up to 4 (16 bytes of the widest "
                              "stream), got 3; choose a smaller vector, or narrower dtypes");
  EXPECT_EQ(refusal("threads=48"), "expected threads to be a multiple of 32, got 48; round it up");
  EXPECT_EQ(refusal("threads=2048"),
            "expected threads from 32 to 1024, got 2048; correct the schedule");
  EXPECT_EQ(schedule(kAdamw, "inflight=8").threads, 256) << "what is not fixed gives way";
  EXPECT_EQ(refusal("inflight=8,threads=512,vec=4"),
            "expected threads, vec and inflight that need at most 128 registers a thread, got "
            "about 160; choose a smaller inflight, vec or threads");
  EXPECT_EQ(refusal("chunk=1000"), "expected chunk to be a multiple of threads*vec*inflight = "
                                   "1024, got 1000; round it up");
}

TEST(Overrides, HaveOneShape) {
  EXPECT_EQ(refusal("threads"), "expected name=number in a schedule, got 'threads'; write for "
                                "example threads=256,vec=4");
  EXPECT_EQ(refusal("threads=x"), "expected name=number in a schedule, got 'threads=x'; write for "
                                  "example threads=256,vec=4");
  EXPECT_EQ(refusal("threads=256,threads=256"),
            "expected each decision once, got 'threads' twice; give it once");
  EXPECT_EQ(refusal("warps=8"),
            "expected a schedule decision (threads, vec, inflight, blocks_per_sm, chunk, "
            "early_launch, vectors, steps, threads_per_row, rows_per_thread, keep, weight, fresh, "
            "lined, bounded), got 'warps'; correct the schedule");
}

ElementsStreams randomStreams(std::mt19937 &random) {
  const unsigned bytes[] = {1, 2, 4, 8};
  ElementsStreams streams(1 + random() % 12);
  for (OperandStream &stream : streams) {
    stream = {bytes[random() % 4], random() % 4 != 0, random() % 2 != 0};
    stream.stored |= !stream.loaded;
  }
  return streams;
}

TEST(ElementsRule, FiveHundredRandomKernelsFitAndKeepTheMemoryBusy) {
  std::mt19937 random(1);
  for (int k = 0; k < 500; ++k) {
    ElementsStreams streams = randomStreams(random);
    ElementsSchedule chosen = schedule(streams, "", k % 2 ? kLarge : kSmall);
    SCOPED_TRACE(k);
    int64_t widest = 0, loaded = 0;
    for (const OperandStream &stream : streams) {
      widest = std::max<int64_t>(widest, stream.bytes);
      loaded += stream.loaded ? stream.bytes : 0;
    }
    EXPECT_EQ(chosen.vec * widest, 16) << "no idle lanes in the widest access";
    EXPECT_EQ(chosen.chunk % (chosen.threads * chosen.vec * chosen.inflight), 0);
    EXPECT_LE(estimateRegisters(streams, chosen.vec, chosen.inflight), 65536 / chosen.threads);
    // Loads of one resident block; 16 KB a block is where a copy of f32 at one vector stands.
    if (loaded >= 4 && widest == 4)
      EXPECT_GE(chosen.threads * chosen.vec * chosen.inflight * loaded, 8192);
    for (auto [name, value] : {std::pair("threads", chosen.threads),
                               {"vec", chosen.vec},
                               {"inflight", chosen.inflight},
                               {"blocks_per_sm", chosen.blocksPerSm},
                               {"chunk", chosen.chunk}})
      EXPECT_EQ(checkDecision(name, value), std::nullopt);
  }
}

TEST(ElementsRule, KernelsBehindAReductionStartEarlyWhereTheArchCan) {
  const ScheduleOverrides none, no{{"early_launch", 0}}, yes{{"early_launch", 1}};
  EXPECT_TRUE(*allowEarlyLaunch(true, true, none));
  EXPECT_FALSE(*allowEarlyLaunch(true, false, none));
  EXPECT_FALSE(*allowEarlyLaunch(true, true, no));
  EXPECT_TRUE(*allowEarlyLaunch(true, true, yes));
  EXPECT_EQ(allowEarlyLaunch(true, false, yes).error().text,
            "expected early_launch to be 0 for this arch, got 1");
  EXPECT_EQ(
      allowEarlyLaunch(false, true, no).error().text,
      "expected no early_launch for a program without a kernel behind one that reduces, got 0");
  // Where nothing else is fixed, an op that fits no registers keeps the smallest schedule.
  const ElementsStreams many(60, {4, true, true});
  EXPECT_EQ(*scheduleElements(many, kSmall, no), *scheduleElements(many, kSmall, none));
}

} // namespace
} // namespace fw::passes
