#include "compiler/passes/rules/Rows.h"

#include <algorithm>
#include <bit>

namespace fw::passes {
namespace {

// A line of memory, which a warp's access should start with.
constexpr int64_t kLineBytes = 128;
constexpr int64_t kWarp = 32;
// Measured on one H200 (docs/rationale/rows-schedule.md). A thread of kRegisters asks for so many
// bytes of a row at a time: more where not every place of a row is read, as less is in flight then.
constexpr int64_t kRegisters = 64;
constexpr int64_t kBytes = 64, kUnevenBytes = 128;
constexpr int64_t kRereadVectors = 4, kRereadUneven = 2;
// Lanes without a vector that are worth no other cut.
constexpr double kIdle = 0.125;
// What can be held in kRegisters beside the work on it.
constexpr int64_t kHeldBytes = 128;
// Blocks of an SM that stay busy while another waits for its threads. Where rows leave fewer, each
// thread holds as much as it can.
constexpr int64_t kBlocks = 4;
// The part of an SM's near memory that rows which are read again may fill: the rest is what is
// stored, and what all rows share.
constexpr int64_t kNearParts = 8, kNearRows = 5;
// Blocks of fewer threads would be so many that their number is the limit.
constexpr int64_t kLeastThreads = 128;
// Rows of fewer vectors than this are not worth a head and a tail: elements go one by one.
constexpr int64_t kLeastVectors = 4;
// Rows of fewer lines than this do not start with one.
constexpr int64_t kLeastLines = 8;
// Counters, addresses within a row, and temporaries.
constexpr int64_t kBodyRegisters = 16;
// Of rows in several steps, beside these.
constexpr int64_t kStepRegisters = 8;
// The estimate is from above by at least so many.
constexpr int64_t kSpare = 8;
// The assembler hands out registers in such parts.
constexpr int64_t kRegisterPart = 8;
// Of rows of any width; bytes where elements go one by one.
constexpr int64_t kAnyThreads = 256, kAnyVectors = 2, kAnyBytes = 32;

int64_t wordsOf(int64_t bytes) { return (bytes + 3) / 4; }

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Words of one vector of every loaded stream.
int64_t loadedWords(const RowsWork &work, int64_t vec) {
  int64_t words = 0;
  for (const OperandStream &stream : work.streams)
    words += stream.loaded ? wordsOf(vec * stream.bytes) : 0;
  return words;
}

/// Words of one vector of the operands of columns, all of them or those that reductions read.
int64_t sharedWords(const RowsWork &work, int64_t vec, bool areReduced = false) {
  int64_t words = 0;
  for (const ColumnOperand &operand : work.shared)
    words += !areReduced || operand.reduced ? wordsOf(vec * operand.bytes) : 0;
  return words;
}

/// Words that the numbers of a vector take beside its own, in reductions.
int64_t decodedWords(const RowsWork &work, int64_t vec) {
  int64_t words = 0;
  for (const OperandStream &stream : work.streams)
    words += stream.loaded ? std::max<int64_t>(vec - wordsOf(vec * stream.bytes), 0) : 0;
  for (const ColumnOperand &operand : work.shared)
    words += operand.reduced ? std::max<int64_t>(vec - wordsOf(vec * operand.bytes), 0) : 0;
  return words;
}

int64_t loadedStreams(const RowsWork &work) {
  return std::ranges::count_if(work.streams, &OperandStream::loaded);
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
  const int64_t vec = kVectorBytes / widest(work.streams);
  if (!facts.together)
    return 1;
  if (facts.aligned || facts.columns == 0 || facts.columns >= vec * (kLeastVectors + 2))
    return vec;
  return 1;
}

/// Whether operands of columns stand on no boundary of the rows' vectors.
bool isShifted(const RowsWork &work, const RowsFacts &facts, int64_t vec) {
  return !facts.aligned && vec > 1 && !work.shared.empty();
}

/// Whether a warp's accesses start with a line of memory: not where the places that stay empty for
/// that would be many of the row's, nor where threads shift operands of columns, which takes longer
/// than the accesses.
bool ruleLined(const RowsWork &work, const RowsFacts &facts, int64_t vec) {
  const int64_t line = kLineBytes / (vec * widest(work.streams));
  return !facts.aligned && vec > 1 && work.shared.empty() &&
         (facts.columns == 0 || facts.columns / vec >= kLeastLines * line);
}

struct Shape {
  int64_t threadsPerRow, vectors, steps;
  Keep keep;
};

double idleShare(int64_t places, int64_t room) { return double(room - places) / double(room); }

/// A row in registers: `wanted` vectors a thread, or more of them, up to `most`, where that leaves
/// fewer lanes idle. Fewer would leave less in flight.
Shape heldShape(int64_t places, int64_t wanted, int64_t most) {
  Shape best{0, 0, 1, Keep::registers};
  double least = 1;
  for (int64_t vectors = wanted; vectors <= most && least > kIdle; ++vectors) {
    const int64_t threads = threadsFor(places, vectors), each = divideUp(places, threads);
    if (const double idle = idleShare(places, threads * each); idle < least) {
      best = {threads, each, 1, Keep::registers};
      least = idle;
    }
  }
  return best;
}

/// A row that is read again, in steps of about `wanted` vectors a thread, by threads that fill the
/// SM with `rows` rows. Three vectors may leave many lanes idle in the last step, where two do not.
Shape rereadShape(int64_t places, int64_t wanted, int64_t rows, int64_t threads) {
  const int64_t perRow = std::max(threads / rows / kWarp, int64_t(1)) * kWarp;
  const auto inStepsOf = [&](int64_t vectors) {
    const int64_t steps = divideUp(places, perRow * vectors);
    return Shape{perRow, divideUp(places, perRow * steps), steps, Keep::reread};
  };
  const auto room = [](const Shape &shape) {
    return shape.threadsPerRow * shape.vectors * shape.steps;
  };
  Shape shape = inStepsOf(wanted);
  if (const Shape two = inStepsOf(2); wanted == 3 && room(two) < room(shape))
    shape = two;
  if (idleShare(places, room(shape)) > kIdle)
    shape.threadsPerRow = divideUp(places, shape.vectors * shape.steps * kWarp) * kWarp;
  return shape;
}

/// Registers that a thread needs beside others of its SM, in whole parts.
int64_t neededRegisters(const RowsWork &work, const RowsFacts &facts, const RowsSchedule &schedule,
                        int64_t others = 0) {
  const int64_t needed = estimateRegisters(work, facts, schedule) - kSpare + others;
  return std::max(divideUp(needed, kRegisterPart) * kRegisterPart, kRegisters);
}

/// The same of a thread that takes `vectors` at a time, with `others` more.
int64_t registersFor(const RowsWork &work, const RowsFacts &facts, int64_t vec, int64_t vectors,
                     int64_t others = 0) {
  RowsSchedule schedule{};
  schedule.vec = vec, schedule.vectors = vectors, schedule.rowsPerThread = 1;
  return neededRegisters(work, facts, schedule, others);
}

/// Vectors that a thread can take at a time in kRegisters beside `others`, up to `most`.
int64_t fittingVectors(const RowsWork &work, const RowsFacts &facts, int64_t vec, int64_t most,
                       int64_t others = 0) {
  while (most > 1 && registersFor(work, facts, vec, most, others) > kRegisters)
    --most;
  return most;
}

/// Rows of a known width: held where the threads of an SM can, and read again from near memory
/// else, by as many blocks as have their rows there.
Shape shapeOf(const RowsWork &work, const RowsFacts &facts, int64_t places, int64_t vec,
              const RowsLimits &limits) {
  const int64_t words = std::max<int64_t>(loadedWords(work, vec), 1);
  const bool isUneven = !facts.aligned || facts.bounded;
  const int64_t most = std::max<int64_t>(kHeldBytes / 4 / words, 1);
  const int64_t wanted =
      std::clamp<int64_t>((isUneven ? kUnevenBytes : kBytes) / 4 / words, 1, most);
  const int64_t threads = std::min(limits.registersPerSm / kRegisters, limits.threadsPerSm);
  if (const Shape held = heldShape(places, wanted, most); held.threadsPerRow * kBlocks <= threads)
    return held;
  // Blocks are few now, and one less would be too much: threads stay within kRegisters, unless
  // that leaves one block only.
  const int64_t fitting = fittingVectors(work, facts, vec, most);
  if (const Shape held =
          heldShape(places, fitting < most ? std::min(wanted, fitting) : most, fitting);
      held.threadsPerRow * 2 <= threads)
    return held;
  for (int64_t vectors = fitting + 1; vectors <= most; ++vectors)
    if (const Shape held = heldShape(places, vectors, vectors);
        held.threadsPerRow * 2 * registersFor(work, facts, vec, held.vectors) <=
        limits.registersPerSm)
      return held;
  // A block that has the SM to itself waits for its row. Reading it again while it stores is
  // faster, as long as it stays near, unless the work on it is more than a sum or its pieces need
  // care.
  const int64_t mostThreads = std::min(threads, limits.threadsPerBlock);
  const int64_t near = limits.sharedPerSm * kNearRows / kNearParts / (places * words * 4);
  const int64_t atOnce =
      isUneven ? std::min(kRereadUneven, std::max(kBytes / 4 / words, int64_t(1)))
               : std::min(kRereadVectors, fittingVectors(work, facts, vec, most, kStepRegisters));
  const Shape reread = rereadShape(places, atOnce, std::max<int64_t>(near, 1), mostThreads);
  const bool isBetterReread = near > 0 && !isUneven && work.values == 1 && reread.steps > 1;
  // So wide a block shifts operands of columns one by one.
  RowsFacts alone = facts;
  alone.aligned = true;
  const int64_t least = divideUp(places, mostThreads);
  const bool fits = least <= fittingVectors(work, alone, vec, most);
  return fits && !isBetterReread ? heldShape(places, least, least) : reread;
}

/// Rows of any width.
Shape anyShape(const RowsWork &work, int64_t vec) {
  const int64_t words = std::max<int64_t>(loadedWords(work, vec), 1);
  return {kAnyThreads, std::max(kAnyVectors, kAnyBytes / 4 / words), 0, Keep::reread};
}

/// As many blocks as leave each thread the registers that it needs.
int64_t ruleBlocks(const RowsWork &work, const RowsFacts &facts, const RowsLimits &limits,
                   const RowsSchedule &schedule) {
  const int64_t registers =
      std::min(neededRegisters(work, facts, schedule), limits.registersPerThread);
  const int64_t byRegisters = limits.registersPerSm / (registers * schedule.threads);
  const int64_t most = std::min(limits.threadsPerSm / schedule.threads, limits.blocksPerSm);
  return std::clamp(byRegisters, int64_t(1), most);
}

/// Whether what threads keep over an exchange would be too much beside a row that fills their
/// registers: numbers of a reduction about a reference, or of several streams; and operands of
/// columns that are asked for on both sides, where a row is read again.
bool ruleFresh(const RowsWork &work, const RowsSchedule &schedule) {
  if (schedule.keep == Keep::reread)
    return schedule.steps > 0 && sharedWords(work, schedule.vec, true) > 0;
  return bytesInFlight(work, schedule) >= kHeldBytes && decodedWords(work, schedule.vec) > 0 &&
         (work.values > 1 || loadedStreams(work) > 1);
}

Result<void> check(const RowsSchedule &schedule, const RowsFacts &facts, int64_t places,
                   const RowsWork &work, const RowsLimits &limits) {
  if (auto legal = checkVec(schedule.vec, work.streams); !legal)
    return legal;
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
  if (schedule.ring && (schedule.ring < schedule.steps || facts.columns == 0 || facts.bounded ||
                        schedule.rowsPerThread > 1 || schedule.keep == Keep::reread))
    return usage(expected("ring",
                          "0, or at least the " + std::to_string(schedule.steps) +
                              " stages of one whole row of a known width",
                          schedule.ring),
                 "choose more stages, or more vectors");
  if (schedule.steps > 0 && schedule.steps * schedule.vectors * perRow < places)
    return usage(expected("vectors",
                          "at least " + std::to_string(divideUp(places, perRow * schedule.steps)) +
                              " for a row in registers",
                          schedule.vectors),
                 "choose more, more threads_per_row, or reread");
  return checkBlocks(schedule.blocksPerSm, schedule.threads, limits.threadsPerSm);
}

} // namespace

int64_t placesOf(const RowsWork &work, const RowsFacts &facts, int64_t vec, bool isLined) {
  const int64_t line = isLined ? kLineBytes / (vec * widest(work.streams)) : 1;
  // The last vector of a row whose operands of columns are shifted goes element by element.
  const int64_t cut = isShifted(work, facts, vec) && facts.columns >= vec ? 1 : 0;
  return facts.columns / vec - cut + line - 1;
}

int64_t bytesInFlight(const RowsWork &work, const RowsSchedule &schedule) {
  return schedule.rowsPerThread * schedule.vectors * loadedWords(work, schedule.vec) * 4;
}

int64_t estimateRegisters(const RowsWork &work, const RowsFacts &facts,
                          const RowsSchedule &schedule) {
  // Operands of columns that all vectors of a reduction ask for at once, as nothing is stored
  // between them.
  const int64_t all = sharedWords(work, schedule.vec),
                gathered = schedule.weightEarly ? all : sharedWords(work, schedule.vec, true);
  const int64_t granules = isShifted(work, facts, schedule.vec) ? 2 : 1; // of one in hand
  return bytesInFlight(work, schedule) / 4 + (schedule.vectors - 1) * gathered + granules * all +
         decodedWords(work, schedule.vec) + 2 * int64_t(work.streams.size()) +
         2 * work.values * schedule.rowsPerThread + kBodyRegisters;
}

Result<RowsSchedule> scheduleRows(const RowsWork &work, const RowsFacts &facts,
                                  const RowsLimits &limits, const ScheduleOverrides &overrides) {
  RowsSchedule schedule{};
  schedule.vec = overrideOr(overrides, "vec", ruleVec(work, facts));
  schedule.lined = overrideOr(overrides, "lined", ruleLined(work, facts, schedule.vec));
  const int64_t places = std::max<int64_t>(placesOf(work, facts, schedule.vec, schedule.lined), 1);
  const Shape shape = facts.columns == 0 ? anyShape(work, schedule.vec)
                                         : shapeOf(work, facts, places, schedule.vec, limits);
  schedule.threadsPerRow = overrideOr(overrides, "threads_per_row", shape.threadsPerRow);
  schedule.ring = overrideOr(overrides, "ring", 0);
  schedule.keep = overrideOr(overrides, "keep", shape.keep == Keep::reread && !schedule.ring)
                      ? Keep::reread
                      : Keep::registers;
  const bool isFixed = schedule.threadsPerRow != shape.threadsPerRow || overrides.count("keep");
  const int64_t atOnce = divideUp(places, schedule.threadsPerRow);
  const int64_t ruleVectors = schedule.ring                      ? 1
                              : !isFixed                         ? shape.vectors
                              : schedule.keep == Keep::registers ? atOnce
                                                                 : std::min(atOnce, kAnyVectors);
  schedule.vectors = overrideOr(overrides, "vectors", ruleVectors);
  schedule.steps = facts.columns == 0 ? 0
                   : schedule.keep == Keep::registers && !schedule.ring
                       ? 1
                       : divideUp(places, schedule.threadsPerRow * schedule.vectors);
  schedule.rowsPerThread = overrideOr(overrides, "rows_per_thread", 1);
  const int64_t groups = std::max<int64_t>(1, kLeastThreads / schedule.threadsPerRow);
  schedule.threads =
      overrideOr(overrides, "threads", divideUp(schedule.threadsPerRow * groups, kWarp) * kWarp);
  // Beside a row of few vectors there are registers for them; otherwise they would be spilled.
  const bool early = schedule.steps == 1 && !work.shared.empty() && facts.aligned &&
                     bytesInFlight(work, schedule) < kBytes;
  schedule.weightEarly = !overrideOr(overrides, "weight", !early || schedule.ring);
  schedule.fresh = overrideOr(overrides, "fresh", schedule.ring || ruleFresh(work, schedule));
  schedule.blocksPerSm =
      overrideOr(overrides, "blocks_per_sm", ruleBlocks(work, facts, limits, schedule));
  if (auto legal = check(schedule, facts, places, work, limits); !legal)
    return legal.takeError();
  return schedule;
}

std::optional<RowsSchedule> otherCandidate(const RowsSchedule &schedule) {
  RowsSchedule other = schedule;
  if (schedule.keep == Keep::registers && !schedule.fresh)
    other.fresh = true;
  else if (schedule.blocksPerSm > 1)
    --other.blocksPerSm;
  else
    return std::nullopt;
  return other;
}

} // namespace fw::passes
