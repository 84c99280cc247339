#include "compiler/passes/rules/Elements.h"

#include <algorithm>

namespace fw::passes {
namespace {

// Measured on one H200 (docs/rationale/elements-schedule.md): what a thread must have asked for
// before it computes is 48 bytes. Ops that load that with one vector of each stream run one, in
// blocks of 256; the others need two vectors and wide blocks, and so do streams of 2 bytes and
// less, where a vector holds twice the arithmetic and one of each would spill at the occupancy it
// needs.
constexpr int64_t kBytesInFlight = 48;
constexpr int64_t kNarrowBytes = 2;
constexpr int64_t kThreadsFor[] = {256, 512}; // with one and with two vectors in flight
constexpr int64_t kTripsPerChunk = 2;
// Kernels that only read need more of it in flight, and reach the speed of a copy and more with one
// block for 64 K elements (measured there too: the block's own sum is then no cost). Blocks of 256
// threads let an SM hold twice as many: a list of 508 of them is one wave of 132 SMs.
constexpr int64_t kReducingInflight = 4, kReducingThreads = 256;
constexpr int64_t kReducingChunk = 65536;
// Loop counters, policy, uniform values and temporaries of one element; streams of 8 bytes mostly
// come with f64 arithmetic, whose values take two registers each.
constexpr int64_t kBodyRegisters = 18;
constexpr int64_t kWideBodyRegisters = 56;
// Blocks smaller than this pay more for their records than they gain.
constexpr int64_t kLeastThreads = 128;
// Two resident blocks hide the ramp at each block's ends.
constexpr int64_t kResidentBlocks = 2;

/// Bytes that one vector of every loaded stream has.
int64_t loadedBytes(const ElementsStreams &streams, int64_t vec) {
  int64_t bytes = 0;
  for (const OperandStream &stream : streams)
    bytes += stream.loaded ? vec * stream.bytes : 0;
  return bytes;
}

int64_t ruleInflight(const ElementsStreams &streams, const ElementsLimits &limits, int64_t vec) {
  if (loadedBytes(streams, vec) >= kBytesInFlight && widest(streams) > kNarrowBytes)
    return 1;
  int64_t threads = kThreadsFor[1];
  int64_t resident = std::clamp(limits.threadsPerSm / threads, int64_t(1), kResidentBlocks);
  int64_t budget =
      std::min(limits.registersPerThread, limits.registersPerSm / (resident * threads));
  return estimateRegisters(streams, vec, 2) <= budget ? 2 : 1;
}

Result<void> checkThreads(int64_t threads, const ElementsLimits &limits) {
  if (threads % 32)
    return usage(expected("threads", "a multiple of 32", threads), "round it up");
  if (threads > limits.threadsPerBlock)
    return usage(expected("threads", "at most " + std::to_string(limits.threadsPerBlock), threads),
                 "choose fewer threads for this arch");
  return {};
}

int64_t registersFor(const ElementsLimits &limits, int64_t threads) {
  return std::min(limits.registersPerThread, limits.registersPerSm / threads);
}

/// Makes a schedule fit the registers: fewer vectors in flight, smaller blocks, shorter vectors, in
/// this order, of what the request has not fixed. False when what it has fixed cannot fit; an op of
/// so many operands that nothing fits keeps the smallest schedule and spills.
bool fitRegisters(const ElementsStreams &streams, const ElementsLimits &limits,
                  const ScheduleOverrides &overrides, ElementsSchedule &schedule) {
  auto fits = [&] {
    return estimateRegisters(streams, schedule.vec, schedule.inflight) <=
           registersFor(limits, schedule.threads);
  };
  auto lower = [&](std::string_view name, int64_t &value, int64_t least) {
    while (!fits() && !overrides.count(name) && value > least)
      value /= 2;
  };
  lower("inflight", schedule.inflight, 1);
  lower("threads", schedule.threads, kLeastThreads);
  lower("vec", schedule.vec, 1);
  const bool onlyEarly = overrides.size() == overrides.count(kEarlyLaunch);
  return fits() || onlyEarly;
}

/// As many blocks as registers allow: without the bound the assembler chooses by a rule of its own,
/// takes a fifth more registers, and now and then spills.
int64_t ruleBlocks(const ElementsStreams &streams, const ElementsLimits &limits,
                   const ElementsSchedule &schedule) {
  int64_t registers = estimateRegisters(streams, schedule.vec, schedule.inflight);
  int64_t byRegisters = limits.registersPerSm / (schedule.threads * registers);
  return std::clamp(byRegisters, int64_t(1), limits.threadsPerSm / schedule.threads);
}

Error tooManyRegisters(const ElementsStreams &streams, const ElementsLimits &limits,
                       const ElementsSchedule &schedule) {
  return usage("expected threads, vec and inflight that need at most " +
                   std::to_string(registersFor(limits, schedule.threads)) +
                   " registers a thread, got about " +
                   std::to_string(estimateRegisters(streams, schedule.vec, schedule.inflight)),
               "choose a smaller inflight, vec or threads");
}

} // namespace

int64_t estimateRegisters(const ElementsStreams &streams, int64_t vec, int64_t inflight) {
  int64_t words = 0, stored = 0;
  for (const OperandStream &stream : streams) {
    words += stream.loaded ? (vec * stream.bytes + 3) / 4 : 0;
    stored += stream.stored;
  }
  return inflight * words + 2 * int64_t(streams.size()) + 2 * stored + 2 * streams.reductions +
         (widest(streams) == 8 ? kWideBodyRegisters : kBodyRegisters);
}

namespace {

/// What the skeletons start from, where a request fixes nothing.
struct ElementsRule {
  int64_t inflight, threads;
  int64_t chunk; ///< 0: kTripsPerChunk trips of the block
};

Result<ElementsSchedule> scheduleBy(const ElementsRule &rule, int64_t vec,
                                    const ElementsStreams &streams, const ElementsLimits &limits,
                                    const ScheduleOverrides &overrides) {
  ElementsSchedule schedule{};
  schedule.vec = vec;
  schedule.inflight = overrideOr(overrides, "inflight", rule.inflight);
  schedule.threads =
      overrideOr(overrides, "threads", std::min(rule.threads, limits.threadsPerBlock));
  if (auto legal = checkThreads(schedule.threads, limits); !legal)
    return legal.takeError();
  if (!fitRegisters(streams, limits, overrides, schedule))
    return tooManyRegisters(streams, limits, schedule);
  schedule.blocksPerSm =
      overrideOr(overrides, "blocks_per_sm", ruleBlocks(streams, limits, schedule));
  if (auto legal = checkBlocks(schedule.blocksPerSm, schedule.threads, limits.threadsPerSm); !legal)
    return legal.takeError();
  int64_t trip = schedule.threads * schedule.vec * schedule.inflight;
  schedule.chunk = rule.chunk ? rule.chunk : overrideOr(overrides, "chunk", trip * kTripsPerChunk);
  if (schedule.chunk % trip)
    return usage(expected("chunk", "a multiple of threads*vec*inflight = " + std::to_string(trip),
                          schedule.chunk),
                 rule.chunk ? "choose powers of two" : "round it up");
  return schedule;
}

Result<int64_t> vectorOf(const ElementsStreams &streams, const ScheduleOverrides &overrides) {
  const int64_t vec = overrideOr(overrides, "vec", kVectorBytes / widest(streams));
  if (auto legal = checkVec(vec, streams); !legal)
    return legal.takeError();
  return vec;
}

} // namespace

Result<ElementsSchedule> scheduleElements(const ElementsStreams &streams,
                                          const ElementsLimits &limits,
                                          const ScheduleOverrides &overrides) {
  Result<int64_t> vec = vectorOf(streams, overrides);
  if (!vec)
    return vec.takeError();
  const int64_t inflight = overrideOr(overrides, "inflight", ruleInflight(streams, limits, *vec));
  return scheduleBy({inflight, kThreadsFor[inflight > 1], /*chunk=*/0}, *vec, streams, limits,
                    overrides);
}

Result<ElementsSchedule> scheduleReduction(const ElementsStreams &streams,
                                           const ElementsLimits &limits,
                                           const ScheduleOverrides &overrides) {
  if (overrides.count("chunk"))
    return usage("expected no chunk for a kernel that reduces, got " +
                     std::to_string(overrides.find("chunk")->second),
                 "leave it out: what is summed together does not depend on a schedule");
  Result<int64_t> vec = vectorOf(streams, overrides);
  if (!vec)
    return vec.takeError();
  return scheduleBy({kReducingInflight, kReducingThreads, kReducingChunk}, *vec, streams, limits,
                    overrides);
}

Result<bool> allowEarlyLaunch(bool hasKernelBehind, bool archCan,
                              const ScheduleOverrides &overrides) {
  const auto fixed = overrides.find(kEarlyLaunch);
  if (fixed == overrides.end())
    return archCan;
  if (!hasKernelBehind)
    return usage("expected no early_launch for a program without a kernel behind one that reduces, "
                 "got " +
                     std::to_string(fixed->second),
                 "leave it out");
  if (fixed->second && !archCan)
    return usage(expected(kEarlyLaunch, "0 for this arch", fixed->second),
                 "leave it out, or name a newer arch");
  return fixed->second != 0;
}

} // namespace fw::passes
