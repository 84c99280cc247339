#include "tests/emulator/ReduceCase.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double untouched = -12345, stale = 1e30;
constexpr size_t guard = 64;
constexpr float guardNumber = 4096; // changes every result that it gets into

/// The next one of a fixed sequence, within -1 and 1.
float nextNumber(u32 &state) {
  state = state * 1664525 + 1013904223;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1;
}

bool isSame(double a, double b) { return (a != a && b != b) || a == b; }

/// Elements before the first vector; lists with odd shifts go one by one, as those do whose
/// operands never stand on a boundary together.
u32 headOf(ReduceCase::Shape shape) {
  const u32 head = static_cast<u32>((ReduceCase::V - shape.shift % ReduceCase::V) % ReduceCase::V);
  return shape.shift % 2 || head + ReduceCase::V > shape.count ? Segment::NO_VECTORS : head;
}

} // namespace

/// Memory starts at a 16-byte boundary, with `guard` elements before and behind.
size_t ReduceCase::place(const ReduceTensor &tensor, size_t i) { return guard + tensor.shift + i; }

ReduceCase::ReduceCase(const std::vector<std::vector<Shape>> &launches, Numbers numbers)
    : numbers(numbers) {
  size_t count = 0;
  for (const auto &shapes : launches)
    count += shapes.size();
  tensors.reserve(count);
  for (const auto &shapes : launches) {
    Part part;
    part.firstEntry = static_cast<u32>(tensors.size());
    for (Shape shape : shapes)
      addTensor(part, shape);
    if (part.chunks.empty()) { // a launch without work still has a block, which may be the last
      part.chunks.push_back({});
      for (auto &column : part.columns)
        column.push_back(0);
      firstPartial.back() += 1;
    }
    parts.push_back(std::move(part));
  }
  partials.resize(REDUCTIONS * size_t{firstPartial.back()});
  results.resize(REDUCTIONS * columns());
}

void ReduceCase::addPartials(size_t count) {
  others = count;
  partials.resize(REDUCTIONS * (firstPartial.back() + others));
}

void ReduceCase::addTensor(Part &part, Shape shape) {
  ReduceTensor &made = tensors.emplace_back();
  made.count = shape.count, made.shift = shape.shift;
  const size_t room = shape.count + shape.shift + 2 * guard;
  made.p.assign(room, guardNumber), made.g.assign(room, {Codec<bf16>::encode(guardNumber)});
  u32 state = static_cast<u32>(shape.count + 7 * tensors.size());
  const size_t entry = tensors.size() - 1;
  for (size_t i = 0; i < shape.count; ++i) {
    const float a = nextNumber(state), b = nextNumber(state);
    const bool isWhole = numbers == Numbers::WHOLE;
    p(entry, i) = isWhole ? std::round(a * 8) : a * std::ldexp(1.0f, static_cast<int>(b * 20));
    g(entry, i).bits = Codec<bf16>::encode(isWhole ? std::round(b * 4) : b);
  }
  const Segment segment{shape.count, headOf(shape), 0, 0, 0};
  const u32 ahead = segment.head == Segment::NO_VECTORS ? 0 : segment.head;
  const u32 chunks = static_cast<u32>((shape.count - ahead + CHUNK - 1) / CHUNK);
  for (u32 number = 0; number < chunks; ++number) {
    Chunk chunk = chunkOf(segment, number, CHUNK);
    chunk.segment = static_cast<u32>(part.columns[0].size());
    chunk.group = 1, chunk.entry = 0;
    part.chunks.push_back(chunk);
  }
  part.columns[0].push_back(reinterpret_cast<u64>(&g(entry, 0)));
  part.columns[1].push_back(reinterpret_cast<u64>(&p(entry, 0)));
  firstPartial.push_back(firstPartial.back() + chunks);
}

ReduceTail ReduceCase::tail(const std::vector<ScalarsLaunch> &programs) {
  return {.partials = partials.data(),
          .results = results.data(),
          .firstPartial = firstPartial.data(),
          .ticket = &ticket,
          .programs = programs.data(),
          .partialCount = static_cast<u32>(partialCount()),
          .partialOffset = 0,
          .entries = static_cast<u32>(entries()),
          .programCount = static_cast<u32>(programs.size()),
          .isLast = 0,
          .reserved = 0};
}

std::string ReduceCase::run(const emulator::BundledKernel &kernel, Orders orders,
                            std::vector<ScalarsLaunch> programs) {
  // What a run before left there: finite, but in no result of this one.
  std::ranges::fill(partials, stale);
  std::fill_n(partials.begin() + SMALLEST * partialCount(), partialCount(), -stale);
  for (size_t k = firstPartial.back(); k < partialCount(); ++k) {
    partials[SUM_OF_SQUARES * partialCount() + k] = 1;
    partials[SMALLEST * partialCount() + k] = infinity;
  }
  std::ranges::fill(results, untouched);
  Launch launch = {};
  launch.policy = L2::NORMAL;
  launch.tail = tail(programs);
  for (Part &part : parts) {
    launch.chunks = part.chunks.data();
    launch.pointers[0] = part.columns[0].data(), launch.pointers[1] = part.columns[1].data();
    launch.scalars = &part == parts.data() ? scales : nullptr; // each way once
    std::copy_n(scales, 2, launch.rows);
    launch.tail.isLast = &part == &parts.back();
    const emulator::Launch grid{.grid = static_cast<unsigned>(part.chunks.size()),
                                .threads = THREADS,
                                .seed = orders.seed,
                                .resident = orders.resident};
    if (auto fault = emulator::run(grid, [&] { kernel.enter(&launch); }))
      return *fault;
    launch.tail.partialOffset += grid.grid;
  }
  return "";
}

/// One result, over the tensors [entry, end).
std::string ReduceCase::compareOne(Reduction r, size_t entry, size_t end) const {
  double sum = r == SUM_OF_SQUARES ? static_cast<double>(others) : 0, largest = -infinity,
         smallest = infinity;
  bool hasNan = false;
  for (size_t e = entry; e < end; ++e)
    for (size_t i = 0; i < tensors[e].count; ++i) {
      const size_t at = place(tensors[e], i);
      const double p = tensors[e].p[at], g = SCALE * Codec<bf16>::decode(tensors[e].g[at].bits);
      const double term = r == SUM_OF_SQUARES ? g * g : p * p;
      sum += term;
      largest = std::max(largest, std::abs(p)), smallest = std::min(smallest, p);
      hasNan = hasNan || p != p;
    }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double expected = r == LARGEST    ? (hasNan ? nan : largest)
                          : r == SMALLEST ? (hasNan ? nan : smallest)
                                          : sum;
  // A square is rounded once, and then once by each of a thread's and of the trees' sums; all terms
  // are positive.
  constexpr double roundings = 1 + CHUNK / THREADS + 1 + 5 + 5;
  const bool isExact = numbers == Numbers::WHOLE || r == LARGEST || r == SMALLEST;
  const double bound = isExact ? 0 : sum * roundings * 0x1p-24 * 1.001;
  const double got = *result(r, entry);
  if (isSame(got, expected) || std::abs(got - expected) <= bound)
    return "";
  return "reduction " + std::to_string(r) + " of entry " + std::to_string(entry) + ": expected " +
         std::to_string(expected) + " within " + std::to_string(bound) + ", got " +
         std::to_string(got);
}

std::string ReduceCase::compare() const {
  for (Reduction r : {SUM_OF_SQUARES, SMALLEST}) {
    if (std::string wrong = compareOne(r, 0, entries()); !wrong.empty())
      return wrong;
    for (size_t k = 1; k < columns(); ++k)
      if (*result(r, k) != untouched)
        return "a column that is not used changed";
  }
  for (size_t entry = 0; entry < entries(); ++entry)
    for (Reduction r : {LARGEST, SUM_OF_TENSOR})
      if (std::string wrong = compareOne(r, entry, entry + 1); !wrong.empty())
        return wrong;
  return ticket == 0 ? "" : "expected ticket 0 behind the launches, got " + std::to_string(ticket);
}

} // namespace fw
