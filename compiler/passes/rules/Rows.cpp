#include "compiler/passes/rules/Rows.h"

#include <algorithm>
#include <bit>

namespace fw::passes {
namespace {

// The widest access that every arch has, and a line of memory, which a warp's access should start
// with.
constexpr int64_t kVectorBytes = 16, kLineBytes = 128;
constexpr int64_t kWarp = 32;
// Measured on one H200 (docs/rationale/rows-schedule.md): an SM wants this much asked for at a
// time, and a thread two vectors of each stream once rows have enough of them for a warp.
constexpr int64_t kBytesInFlight = 49152;
constexpr int64_t kVectors = 2, kMostVectors = 8;
// Rows of more vectors than this many threads take two of each get more of them in each thread, and
// rows of more bytes than a thread can hold are read again.
constexpr int64_t kMostThreads = 512, kWideThreads = 1024;
constexpr int64_t kHeldBytes = 64, kMoreHeldBytes = 128;
// Blocks of fewer threads would be so many that their number is the limit.
constexpr int64_t kLeastThreads = 256;
// Rows of fewer vectors than this are not worth a head and a tail: elements go one by one.
constexpr int64_t kLeastVectors = 4;
// Rows of fewer lines than this do not start with one.
constexpr int64_t kLeastLines = 32;
// Counters, addresses within a row, and temporaries.
constexpr int64_t kBodyRegisters = 22;
// Rows that take fewer rows at a time than this many vectors of shared operands share them.
constexpr int64_t kAnyThreads = 256;

Error usage(std::string text, std::string remedy) {
  return {.code = Code::USAGE, .text = std::move(text), .remedy = std::move(remedy)};
}

int64_t overrideOr(const ScheduleOverrides &overrides, std::string_view name, int64_t rule) {
  auto found = overrides.find(name);
  return found == overrides.end() ? rule : found->second;
}

int64_t widest(const RowsWork &work) {
  int64_t bytes = 1;
  for (const ElementsStream &stream : work.streams)
    bytes = std::max<int64_t>(bytes, stream.bytes);
  return bytes;
}

int64_t wordsOf(int64_t bytes) { return (bytes + 3) / 4; }

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Words of one vector of every loaded stream.
int64_t loadedWords(const RowsWork &work, int64_t vec) {
  int64_t words = 0;
  for (const ElementsStream &stream : work.streams)
    words += stream.loaded ? wordsOf(vec * stream.bytes) : 0;
  return words;
}

int64_t sharedWords(const RowsWork &work, int64_t vec) {
  int64_t words = 0;
  for (unsigned bytes : work.shared)
    words += wordsOf(vec * bytes);
  return words;
}

/// The threads of a row of `places` vectors, when each takes about `vectors`: a power of two of
/// lanes, or as many warps as leave the fewest lanes without work.
int64_t threadsFor(int64_t places, int64_t vectors) {
  int64_t threads = divideUp(places, vectors);
  return threads <= kWarp ? int64_t(std::bit_ceil(uint64_t(std::max<int64_t>(threads, 1))))
                          : divideUp(threads, kWarp) * kWarp;
}

/// Whole vectors where rows have enough of them, single elements else.
int64_t ruleVec(const RowsWork &work, const RowsFacts &facts) {
  const int64_t vec = kVectorBytes / widest(work);
  if (!facts.together)
    return 1;
  if (facts.aligned || facts.columns == 0 || facts.columns >= vec * (kLeastVectors + 2))
    return vec;
  return 1;
}

/// Whether a warp's accesses start with a line of memory: not where the places that stay empty for
/// that would be many of the row's.
bool ruleLined(const RowsWork &work, const RowsFacts &facts, int64_t vec) {
  const int64_t line = kLineBytes / (vec * widest(work));
  return !facts.aligned && vec > 1 &&
         (facts.columns == 0 || facts.columns / vec >= kLeastLines * line);
}

/// Whether all that a thread loads of a row can stay in its registers, `threads` of them a row.
bool isHeld(const RowsWork &work, int64_t vec, int64_t vectors, int64_t threads) {
  const auto isLoaded = [](const ElementsStream &stream) { return stream.loaded; };
  const bool isLight = work.values == 1 && work.shared.size() <= 1 &&
                       std::ranges::count_if(work.streams, isLoaded) == 1;
  const bool isMore = isLight || threads <= kLeastThreads;
  return vectors * loadedWords(work, vec) * 4 <= (isMore ? kMoreHeldBytes : kHeldBytes);
}

struct Shape {
  int64_t threadsPerRow, vectors, steps;
  Keep keep;
};

/// How bad a cut of a row is: the share of its places that stay empty, and a little for every
/// vector a thread has more or less than kVectors.
double costOf(const Shape &shape, int64_t places) {
  const double all = double(shape.threadsPerRow * shape.vectors * shape.steps);
  return double(all - places) / all + 0.04 * double(std::abs(shape.vectors - kVectors));
}

/// Rows of a known width, held where their threads have registers for them and read again in
/// several steps else.
Shape shapeOf(const RowsWork &work, int64_t places, int64_t vec, const RowsLimits &limits) {
  const int64_t most = std::min(kMostThreads, limits.threadsPerBlock);
  const int64_t wide = std::min(kWideThreads, limits.threadsPerBlock);
  Shape best{0, 0, 0, Keep::registers};
  for (int64_t threads : {most, wide}) {
    const int64_t least = places < kWarp ? 1 : kVectors;
    for (int64_t vectors = least; vectors <= kMostVectors; ++vectors) {
      Shape shape{threadsFor(places, vectors), vectors, 1, Keep::registers};
      shape.vectors = divideUp(std::max<int64_t>(places, 1), shape.threadsPerRow);
      if (shape.threadsPerRow <= threads && isHeld(work, vec, shape.vectors, shape.threadsPerRow) &&
          (!best.threadsPerRow || costOf(shape, places) < costOf(best, places)))
        best = shape;
    }
    if (best.threadsPerRow)
      return best;
  }
  const int64_t steps = divideUp(places, most * kVectors);
  return {threadsFor(places, steps * kVectors), kVectors, steps, Keep::reread};
}

/// As many blocks as have the bytes in flight that an SM wants, and registers for them.
int64_t ruleBlocks(const RowsWork &work, const RowsLimits &limits, const RowsSchedule &schedule) {
  const int64_t wanted = divideUp(
      kBytesInFlight, std::max<int64_t>(1, bytesInFlight(work, schedule)) * schedule.threads);
  const int64_t registers = std::min(estimateRegisters(work, schedule), limits.registersPerThread);
  const int64_t byRegisters = limits.registersPerSm / (registers * schedule.threads);
  const int64_t most = std::min(limits.threadsPerSm / schedule.threads, limits.blocksPerSm);
  return std::clamp(std::min(wanted, byRegisters), int64_t(1), most);
}

Result<void> check(const RowsSchedule &schedule, const RowsFacts &facts, int64_t places,
                   const RowsWork &work, const RowsLimits &limits) {
  const auto expected = [](std::string_view name, const std::string &what, int64_t got) {
    return "expected " + std::string(name) + " to be " + what + ", got " + std::to_string(got);
  };
  const int64_t most = kVectorBytes / widest(work);
  if (!std::has_single_bit(uint64_t(schedule.vec)) || schedule.vec > most)
    return usage(expected("vec", "a power of two up to " + std::to_string(most), schedule.vec),
                 "choose a smaller vector, or narrower dtypes");
  const int64_t perRow = schedule.threadsPerRow;
  if (perRow % kWarp && (perRow > kWarp || !std::has_single_bit(uint64_t(perRow))))
    return usage(
        expected("threads_per_row", "a power of two below 32, or a multiple of 32", perRow),
        "round it up");
  if (schedule.threads % kWarp || schedule.threads % perRow ||
      schedule.threads > limits.threadsPerBlock)
    return usage(expected("threads",
                          "a multiple of 32 and of threads_per_row = " + std::to_string(perRow) +
                              ", at most " + std::to_string(limits.threadsPerBlock),
                          schedule.threads),
                 "round it up");
  if (schedule.rowsPerThread > 1 && !facts.aligned)
    return usage(
        expected("rows_per_thread", "1 for rows that are not aligned", schedule.rowsPerThread),
        "leave it out");
  if (schedule.keep == Keep::registers && facts.columns == 0)
    return usage(expected("keep", "reread for rows of any width", 0), "leave it out");
  if (schedule.steps > 0 && schedule.steps * schedule.vectors * perRow < places)
    return usage(expected("vectors",
                          "at least " + std::to_string(divideUp(places, perRow * schedule.steps)) +
                              " for a row in registers",
                          schedule.vectors),
                 "choose more, more threads_per_row, or reread");
  if (schedule.blocksPerSm * schedule.threads > limits.threadsPerSm)
    return usage(expected("blocks_per_sm",
                          "at most " + std::to_string(limits.threadsPerSm / schedule.threads) +
                              " blocks of " + std::to_string(schedule.threads) + " threads",
                          schedule.blocksPerSm),
                 "choose fewer, or leave it to the rule");
  return {};
}

} // namespace

int64_t placesOf(const RowsFacts &facts, int64_t vec, int64_t widestOfLined) {
  const int64_t line = widestOfLined ? kLineBytes / (vec * widestOfLined) : 1;
  return facts.columns / vec + line - 1;
}

int64_t bytesInFlight(const RowsWork &work, const RowsSchedule &schedule) {
  return schedule.rowsPerThread * schedule.vectors * loadedWords(work, schedule.vec) * 4;
}

int64_t estimateRegisters(const RowsWork &work, const RowsSchedule &schedule) {
  const int64_t early = schedule.weightEarly ? schedule.vectors : 1;
  return bytesInFlight(work, schedule) / 4 + early * sharedWords(work, schedule.vec) +
         2 * int64_t(work.streams.size()) + 2 * work.values * schedule.rowsPerThread +
         kBodyRegisters;
}

Result<RowsSchedule> scheduleRows(const RowsWork &work, const RowsFacts &facts,
                                  const RowsLimits &limits, const ScheduleOverrides &overrides) {
  RowsSchedule schedule{};
  schedule.vec = overrideOr(overrides, "vec", ruleVec(work, facts));
  schedule.lined = overrideOr(overrides, "lined", ruleLined(work, facts, schedule.vec));
  const int64_t places = placesOf(facts, schedule.vec, schedule.lined ? widest(work) : 0);
  Shape shape = facts.columns == 0 ? Shape{kAnyThreads, kVectors, 0, Keep::reread}
                                   : shapeOf(work, places, schedule.vec, limits);
  schedule.threadsPerRow = overrideOr(overrides, "threads_per_row", shape.threadsPerRow);
  schedule.keep =
      overrideOr(overrides, "keep", shape.keep == Keep::reread) ? Keep::reread : Keep::registers;
  const bool isFixed = schedule.threadsPerRow != shape.threadsPerRow || overrides.count("keep");
  const int64_t atOnce = divideUp(std::max<int64_t>(places, 1), schedule.threadsPerRow);
  const int64_t ruleVectors = !isFixed                           ? shape.vectors
                              : schedule.keep == Keep::registers ? atOnce
                                                                 : std::min(atOnce, kVectors);
  schedule.vectors = overrideOr(overrides, "vectors", std::max<int64_t>(ruleVectors, 1));
  schedule.steps =
      facts.columns == 0 ? 0
      : schedule.keep == Keep::registers
          ? 1
          : divideUp(std::max<int64_t>(places, 1), schedule.threadsPerRow * schedule.vectors);
  schedule.rowsPerThread = overrideOr(overrides, "rows_per_thread", 1);
  const int64_t groups = std::max<int64_t>(1, kLeastThreads / schedule.threadsPerRow);
  schedule.threads =
      overrideOr(overrides, "threads", divideUp(schedule.threadsPerRow * groups, kWarp) * kWarp);
  const bool early = schedule.steps == 1 && schedule.vectors * schedule.rowsPerThread <= kVectors;
  schedule.weightEarly =
      !overrideOr(overrides, "weight", !(early && !work.shared.empty() && facts.aligned));
  schedule.fresh = overrideOr(overrides, "fresh", 0);
  schedule.blocksPerSm = overrideOr(overrides, "blocks_per_sm", ruleBlocks(work, limits, schedule));
  if (auto legal = check(schedule, facts, places, work, limits); !legal)
    return legal.takeError();
  return schedule;
}

} // namespace fw::passes
