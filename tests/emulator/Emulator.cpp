#include "tests/emulator/Emulator.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tests/emulator/Fiber.h"
#include "tests/emulator/KernelText.h"

namespace fw::emulator {
namespace {

constexpr unsigned WARP = 32, BARRIERS = 16;

enum class State { READY, AT_BARRIER, AT_WARP, DONE };

/// A result for other blocks, which none of them sees before a fence.
struct Published {
  double *address;
  double value;
};

/// A copy that a thread does not wait for. It may end at once, so its target holds NaN from then
/// on, and it may end as late as the wait for it, so that is when it is made.
struct Copy {
  void *to;
  const void *from;
  unsigned bytes;
};

struct Thread {
  unsigned index = 0;
  State state = State::READY;
  std::unique_ptr<Fiber> fiber; // held from its first turn to its end
  int line = 0;                 // of the text, where it waits
  unsigned barrier = 0;
  WarpOp op = {};
  unsigned mask = 0;
  uint64_t value = 0, result = 0;
  int argument = 0, width = 0;
  std::vector<Published> published;
  std::deque<std::vector<Copy>> copies; // by group; the last one is open
};

struct Block {
  unsigned index = 0;
  std::vector<Thread> threads;
  std::vector<unsigned> order; // in which threads take their turns
  unsigned unfinished = 0;
  unsigned arrived[BARRIERS] = {};
  unsigned sleeper = 0, nap = 0; // a warp, and for how many turns it has none
  void *shared = nullptr;
  size_t sharedAlignment = 0;

  Block(unsigned index, unsigned threads) : index(index), threads(threads), unfinished(threads) {}
  ~Block() {
    if (shared)
      ::operator delete(shared, std::align_val_t(sharedAlignment));
  }
};

/// The lanes that take part in one warp operation.
struct Lanes {
  Thread *threads[WARP];
  unsigned count = 0;
  std::span<Thread *> all() { return {threads, count}; }
};

/// splitmix64: the same sequence everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  unsigned below(unsigned limit) {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return static_cast<unsigned>((z ^ z >> 31) % limit);
  }
  template <class T> void shuffle(std::vector<T> &values) {
    for (size_t k = values.size(); k > 1; --k)
      std::swap(values[k - 1], values[below(static_cast<unsigned>(k))]);
  }

private:
  uint64_t state;
};

class Scheduler {
public:
  Scheduler(const Launch &launch, const std::function<void()> &kernel)
      : launch(launch), kernel(kernel), random(launch.seed) {}

  std::optional<std::string> run();

  // On the stack of the running thread:
  void wait(State state);
  [[noreturn]] void fail(std::string what);
  void arriveAtBarrier(unsigned id, unsigned threads, int line);
  uint64_t exchange(WarpOp op, unsigned mask, uint64_t value, int argument, int width, int line);
  void *sharedMemory(size_t bytes, size_t alignment);
  void fence();
  void stage(const Copy &copy);
  void waitStage(unsigned pending);

  const Launch &launch;
  const std::function<void()> &kernel;
  Random random;
  Block *block = nullptr;
  Thread *thread = nullptr;

private:
  void startBlocks();
  bool runReady(Block &next);
  void takeTurn(Thread &next);
  bool completesExchange(Lanes &lanes);
  std::string stuckReport(const Block &stuck) const;

  std::vector<unsigned> waiting; // blocks not started yet, the next one last
  std::vector<std::unique_ptr<Block>> live;
  std::vector<std::unique_ptr<Fiber>> pool;
  std::optional<std::string> fault;
};

thread_local Scheduler *current = nullptr;

std::optional<std::string> Scheduler::run() {
  waiting.resize(launch.grid);
  std::iota(waiting.begin(), waiting.end(), 0);
  random.shuffle(waiting);
  for (startBlocks(); !live.empty() && !fault; startBlocks()) {
    const size_t first = random.below(static_cast<unsigned>(live.size()));
    bool progress = false;
    for (size_t k = 0; k < live.size() && !progress && !fault; ++k)
      progress = runReady(*live[(first + k) % live.size()]);
    if (!progress && !fault)
      fault = stuckReport(*live[first]);
    std::erase_if(live, [](const auto &b) { return b->unfinished == 0; });
  }
  return fault;
}

/// Fills up to `resident` blocks. Warps take turns in seeded order, the threads of a warp in
/// theirs.
void Scheduler::startBlocks() {
  while (!waiting.empty() && live.size() < std::max(1u, launch.resident)) {
    auto next = std::make_unique<Block>(waiting.back(), launch.threads);
    waiting.pop_back();
    std::vector<unsigned> warps((launch.threads + WARP - 1) / WARP);
    std::iota(warps.begin(), warps.end(), 0);
    random.shuffle(warps);
    for (unsigned warp : warps)
      for (unsigned t = warp * WARP; t < std::min(launch.threads, (warp + 1) * WARP); ++t)
        next->order.push_back(t);
    for (unsigned t = 0; t < launch.threads; ++t)
      next->threads[t].index = t;
    live.push_back(std::move(next));
  }
}

/// Gives each ready thread of the block a turn; whether there was any. Now and then a warp sleeps
/// for a while: it is behind the others as far as barriers let it.
bool Scheduler::runReady(Block &next) {
  block = &next;
  const unsigned warps = (launch.threads + WARP - 1) / WARP;
  if (next.nap == 0 && warps > 1 && random.below(4) == 0) {
    next.sleeper = random.below(warps);
    next.nap = random.below(64);
  }
  bool any = false, slept = false;
  for (unsigned t : next.order) {
    if (next.threads[t].state != State::READY)
      continue;
    if (next.nap > 0 && t / WARP == next.sleeper) {
      slept = true;
      continue;
    }
    any = true;
    takeTurn(next.threads[t]);
    if (fault)
      break;
  }
  next.nap = any ? next.nap - (next.nap > 0) : 0; // nobody else can go on
  return any || slept;
}

void Scheduler::takeTurn(Thread &next) {
  thread = &next;
  if (!next.fiber) {
    if (pool.empty())
      pool.push_back(std::make_unique<Fiber>());
    next.fiber = std::move(pool.back());
    pool.pop_back();
    next.fiber->start(
        [](void *scheduler) {
          auto *self = static_cast<Scheduler *>(scheduler);
          self->kernel();
          self->thread->state = State::DONE;
        },
        this);
  }
  next.fiber->resume();
  if (next.state == State::DONE) {
    fence(); // all that is left is seen when a thread ends, and not before
    for (const std::vector<Copy> &group : next.copies)
      if (!group.empty() && !fault)
        fault = "block " + std::to_string(block->index) + ", thread " + std::to_string(next.index) +
                ": it returns before its copies have ended";
    pool.push_back(std::move(next.fiber));
    --block->unfinished;
  }
}

void Scheduler::wait(State state) {
  thread->state = state;
  thread->fiber->suspend();
}

/// The stack it is called on is never entered again, so nothing on it may own memory.
void Scheduler::fail(std::string what) {
  fault = "block " + std::to_string(block->index) + ", thread " + std::to_string(thread->index) +
          ": " + std::exchange(what, {});
  for (;;)
    thread->fiber->suspend(); // the launch is over, nobody resumes it
}

void Scheduler::arriveAtBarrier(unsigned id, unsigned threads, int line) {
  if (id >= BARRIERS)
    fail("expected a barrier below 16, got " + std::to_string(id));
  const unsigned expected = threads == 0 ? launch.threads : threads;
  thread->barrier = id;
  thread->line = line;
  if (++block->arrived[id] < expected)
    return wait(State::AT_BARRIER);
  block->arrived[id] = 0;
  for (Thread &other : block->threads)
    if (other.state == State::AT_BARRIER && other.barrier == id)
      other.state = State::READY;
}

/// Which lane `lane` reads from, and itself where that is outside its segment.
unsigned sourceLane(const Thread &t, unsigned lane) {
  const unsigned width = static_cast<unsigned>(t.width), base = lane / width * width;
  const unsigned by = static_cast<unsigned>(t.argument);
  switch (t.op) {
  case WarpOp::SHUFFLE:
    return base + by % width;
  case WarpOp::SHUFFLE_UP:
    return lane - base >= by ? lane - by : lane;
  case WarpOp::SHUFFLE_DOWN:
    return lane - base + by < width ? lane + by : lane;
  case WarpOp::SHUFFLE_XOR:
    return (lane ^ by) < base + width ? lane ^ by : lane;
  default:
    return lane;
  }
}

/// The lanes that the running thread's mask names, and whether all of them are here. A lane that
/// can never come, or that came for something else, is a fault.
bool Scheduler::completesExchange(Lanes &lanes) {
  const unsigned first = thread->index / WARP * WARP;
  bool complete = true;
  for (unsigned lane = 0; lane < WARP; ++lane) {
    if (!(thread->mask >> lane & 1))
      continue;
    if (first + lane >= launch.threads || block->threads[first + lane].state == State::DONE)
      fail("its warp operation at line " + std::to_string(thread->line) + " names lane " +
           std::to_string(lane) + ", which has returned or does not exist");
    Thread &other = block->threads[first + lane];
    lanes.threads[lanes.count++] = &other;
    if (&other == thread)
      continue;
    if (other.state != State::AT_WARP)
      complete = false;
    else if (other.op != thread->op || other.mask != thread->mask)
      fail("its warp operation at line " + std::to_string(thread->line) + " meets lane " +
           std::to_string(lane) + " in another one at line " + std::to_string(other.line));
  }
  return complete;
}

uint64_t Scheduler::exchange(WarpOp op, unsigned mask, uint64_t value, int argument, int width,
                             int line) {
  Thread &self = *thread;
  self.op = op, self.mask = mask, self.value = value;
  self.argument = argument, self.width = width, self.line = line;
  const unsigned first = self.index / WARP * WARP;
  if (!(mask >> (self.index - first) & 1))
    fail("its own lane is missing in the mask of its warp operation at line " +
         std::to_string(line));
  Lanes lanes;
  if (!completesExchange(lanes)) {
    wait(State::AT_WARP);
    return self.result;
  }
  uint64_t ballot = 0;
  for (Thread *t : lanes.all())
    ballot |= (t->value & 1) << (t->index - first);
  for (Thread *t : lanes.all()) {
    const unsigned source = sourceLane(*t, t->index - first);
    if (op <= WarpOp::SHUFFLE_XOR && !(mask >> source & 1))
      fail("lane " + std::to_string(t->index - first) + " reads lane " + std::to_string(source) +
           ", which takes no part in the shuffle at line " + std::to_string(line));
    t->result = op == WarpOp::BALLOT ? ballot : block->threads[first + source].value;
    t->state = State::READY;
  }
  return self.result;
}

void *Scheduler::sharedMemory(size_t bytes, size_t alignment) {
  if (!block->shared) {
    block->shared = ::operator new(bytes, std::align_val_t(alignment));
    block->sharedAlignment = alignment;
    memset(block->shared, 0xFF, bytes); // NaN in every float format
  }
  return block->shared;
}

void Scheduler::fence() {
  for (const Published &store : thread->published)
    *store.address = store.value;
  thread->published.clear();
}

void Scheduler::stage(const Copy &copy) {
  if (thread->copies.empty())
    thread->copies.emplace_back();
  memset(copy.to, 0xFF, copy.bytes);
  thread->copies.back().push_back(copy);
}

void Scheduler::waitStage(unsigned pending) {
  for (auto &copies = thread->copies; copies.size() > pending + 1; copies.pop_front())
    for (const Copy &copy : copies.front())
      memcpy(copy.to, copy.from, copy.bytes);
}

std::string Scheduler::stuckReport(const Block &stuck) const {
  std::string text = "block " + std::to_string(stuck.index) + " is stuck: ";
  const char *separator = "";
  for (auto [state, what] :
       {std::pair(State::AT_BARRIER, "at a barrier"),
        std::pair(State::AT_WARP, "at a warp operation"), std::pair(State::DONE, "returned")}) {
    const auto is = [state = state](const Thread &t) { return t.state == state; };
    const auto first = std::ranges::find_if(stuck.threads, is);
    if (first == stuck.threads.end())
      continue;
    text +=
        separator + std::to_string(std::ranges::count_if(stuck.threads, is)) + " threads " + what;
    text += " (first: thread " + std::to_string(first->index);
    if (state == State::AT_BARRIER)
      text += ", barrier " + std::to_string(first->barrier);
    text += state == State::DONE ? ")" : ", line " + std::to_string(first->line) + ")";
    separator = ", ";
  }
  return text;
}

} // namespace

std::optional<std::string> run(const Launch &launch, const std::function<void()> &kernel) {
  Scheduler scheduler(launch, kernel);
  Scheduler *outer = std::exchange(current, &scheduler);
  std::optional<std::string> fault = scheduler.run();
  current = outer;
  return fault;
}

Index threadIndex() { return {current->thread->index}; }
Index blockIndex() { return {current->block->index}; }
Size blockSize() { return {current->launch.threads}; }
Size gridSize() { return {current->launch.grid}; }

void barrier(unsigned id, unsigned threads, int line) {
  current->arriveAtBarrier(id, threads, line);
}

uint64_t warp(WarpOp op, unsigned mask, uint64_t value, int argument, int width, int line) {
  return current->exchange(op, mask, value, argument, width, line);
}

void maybeYield() {
  if (current->random.below(2) == 0)
    current->wait(State::READY);
}

} // namespace fw::emulator

// The hooks that the vocabulary's host twins call.
extern "C" {

void fw_emulator_access(const void *address, unsigned bytes, int isStore) {
  if (!fw::emulator::current || reinterpret_cast<uintptr_t>(address) % bytes == 0)
    return;
  char text[128];
  snprintf(text, sizeof(text), "%s of %u bytes at %p, which is not a multiple of %u",
           isStore ? "store" : "load", bytes, address, bytes);
  fw::emulator::current->fail(text);
}

void *fw_emulator_shared(size_t bytes, size_t alignment) {
  return fw::emulator::current->sharedMemory(bytes, alignment);
}

uint64_t fw_emulator_shuffle_down(uint64_t value, unsigned by, int line) {
  using namespace fw::emulator;
  return warp(WarpOp::SHUFFLE_DOWN, ~0u, value, static_cast<int>(by), WARP, line);
}

uint64_t fw_emulator_shuffle_xor(uint64_t value, unsigned with, int line) {
  using namespace fw::emulator;
  return warp(WarpOp::SHUFFLE_XOR, ~0u, value, static_cast<int>(with), WARP, line);
}

unsigned fw_emulator_ballot(int predicate, int line) {
  using namespace fw::emulator;
  return static_cast<unsigned>(warp(WarpOp::BALLOT, ~0u, predicate != 0, 0, WARP, line));
}

void fw_emulator_publish(double *address, double value) {
  fw::emulator::current->thread->published.push_back({address, value});
}

double fw_emulator_observe(const double *address) {
  fw::emulator::maybeYield();
  return *address;
}

void fw_emulator_stage(void *to, const void *from, unsigned bytes) {
  fw_emulator_access(to, bytes, 1);
  fw_emulator_access(from, bytes, 0);
  fw::emulator::current->stage({to, from, bytes});
}

void fw_emulator_stage_commit() {
  auto &copies = fw::emulator::current->thread->copies;
  copies.resize(std::max<size_t>(copies.size(), 1) + 1);
}

void fw_emulator_stage_wait(unsigned pending) { fw::emulator::current->waitStage(pending); }

void fw_emulator_fence() { fw::emulator::current->fence(); }

/// Behind its ticket a thread may wait as long as other blocks need to finish.
unsigned fw_emulator_ticket(unsigned *ticket, unsigned last) {
  using namespace fw::emulator;
  const unsigned drawn =
      atomically(ticket, [&](unsigned old) { return old >= last ? 0 : old + 1; });
  for (unsigned turns = current->random.below(2) * 100; turns > 0; --turns)
    maybeYield();
  return drawn;
}

void fw_emulator_barrier(unsigned id, unsigned threads, int line) {
  fw::emulator::barrier(id, threads, line);
}
}
