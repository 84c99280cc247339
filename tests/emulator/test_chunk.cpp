// Skeleton `chunk` with its sample optimizer, against a plain loop over the same elements: equal to
// the bit, for every shape of list and every way to launch it; and mutants of the skeleton that
// must not pass.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "templates/vocab/arithmetic.h"
#include "templates/vocab/bf16.h"
#include "templates/vocab/launch.h"
#include "tests/emulator/Bundle.h"

extern "C" const fw::emulator::BundledKernel fw_bundle_samples[];

namespace fw {
namespace {

constexpr u32 CHUNK = 8192;
constexpr int V = 4;
constexpr float SCALARS[] = {1e-3f, 0.9f, 0.999f, 10.0f, 1000.0f, 1e-8f, 0.01f};

/// Memory of exactly `count` elements that starts `shift` elements behind a 16-byte boundary,
/// between `guard` elements whose bytes must not change.
template <class T> class Array {
public:
  Array(size_t count, size_t shift, size_t guard)
      : count(count), front((guard + 15) / 16 * 16 + shift),
        bytes((front + count + guard) * sizeof(T)),
        memory(static_cast<char *>(::operator new(bytes, std::align_val_t(16)))) {
    memset(memory.get(), 0x5A, bytes);
  }
  T *data() { return reinterpret_cast<T *>(memory.get()) + front; }
  T &operator[](size_t i) { return data()[i]; }

  bool guardsChanged() const {
    const size_t end = (front + count) * sizeof(T);
    for (size_t k = 0; k < bytes; ++k)
      if ((k < front * sizeof(T) || k >= end) && memory.get()[k] != 0x5A)
        return true;
    return false;
  }

private:
  struct Free {
    void operator()(char *p) const { ::operator delete(p, std::align_val_t(16)); }
  };
  size_t count, front, bytes;
  std::unique_ptr<char, Free> memory;
};

/// One tensor's operands; a shift of 0 keeps them aligned.
struct Tensor {
  Tensor(size_t count, size_t shift, size_t guard, unsigned seed)
      : count(count), shift(shift), p(count, shift, guard), m(count, shift, guard),
        v(count, shift, guard), g(count, shift, guard) {
    u32 state = seed;
    const auto next = [&] {
      return static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1;
    };
    for (size_t i = 0; i < count; ++i) {
      p[i] = next(), m[i] = next() * 0.1f, v[i] = std::abs(next()) * 0.01f;
      g[i].bits = Codec<bf16>::encode(next());
    }
  }

  size_t count, shift;
  Array<float> p, m, v;
  Array<bf16> g;
};

/// The sample's equations, element by element.
void plainLoop(Tensor &t) {
  const float *s = SCALARS;
  for (size_t i = 0; i < t.count; ++i) {
    const float g = Codec<bf16>::decode(t.g[i].bits);
    t.m[i] = math::fma(s[1], t.m[i], (1.0f - s[1]) * g);
    t.v[i] = math::fma(s[2], t.v[i], (1.0f - s[2]) * g * g);
    const float move = t.m[i] * s[3] / (std::sqrt(t.v[i] * s[4]) + s[5]);
    t.p[i] = t.p[i] - s[0] * (move + s[6] * t.p[i]);
  }
}

struct Shape {
  size_t count, shift;

  /// All operands are off by as many elements and so meet boundaries together; lists with odd
  /// shifts go one by one nevertheless, as those do whose operands never meet.
  u32 head() const {
    const u32 head = static_cast<u32>((V - shift) % V);
    return shift % 2 || head + V > count ? Segment::NO_VECTORS : head;
  }
};

/// What a launch has in tables, and which number of a chunk record names the row of scalars.
struct Way {
  bool chunks, scalars, perEntry;
};
constexpr Way WAYS[] = {{true, true, false}, {false, false, false}, {true, false, true}};

using Parameter = ElementsLaunch<4, std::size(SCALARS), float>;
constexpr u32 ROW = 1; // row 0 is another group's

/// A launch over a list: its parameter and the tables that it names.
struct Call {
  explicit Call(Way way) : way(way), table(2 * std::size(SCALARS), NAN) {
    std::copy(std::begin(SCALARS), std::end(SCALARS), table.begin() + std::size(SCALARS));
    parameter.policy = L2::NORMAL;
    parameter.perEntry = way.perEntry;
    std::copy(table.begin(), table.end(), parameter.rows);
    parameter.scalars = way.scalars ? table.data() : nullptr;
  }

  void add(Tensor &t, const Shape &shape) {
    const u64 addresses[] = {(u64)t.p.data(), (u64)t.g.data(), (u64)t.m.data(), (u64)t.v.data()};
    for (size_t k = 0; k < std::size(addresses); ++k)
      columns[k].push_back(addresses[k]);
    const Segment segment{shape.count, shape.head(), blocks, ROW, 0};
    const u32 ahead = segment.head == Segment::NO_VECTORS ? 0 : segment.head;
    const u32 count = static_cast<u32>((shape.count - ahead + CHUNK - 1) / CHUNK);
    for (u32 number = 0; number < count; ++number)
      add(chunkOf(segment, number, CHUNK));
    if (count) {
      std::copy(std::begin(addresses), std::end(addresses),
                parameter.addresses[parameter.segmentCount]);
      parameter.segments[parameter.segmentCount++] = segment;
    }
  }

  void add(Chunk record) {
    record.segment = static_cast<u32>(columns[0].size() - 1);
    record.group = way.perEntry ? 0 : ROW;
    record.entry = way.perEntry ? ROW : 0;
    records.push_back(record);
    ++blocks;
  }

  std::optional<std::string> run(const emulator::BundledKernel &kernel, u64 seed) {
    parameter.chunks = way.chunks ? records.data() : nullptr;
    for (size_t k = 0; k < std::size(columns); ++k)
      parameter.pointers[k] = columns[k].data();
    return emulate(kernel, blocks, &parameter, seed);
  }

  Way way;
  Parameter parameter = {};
  std::vector<Chunk> records;
  std::vector<u64> columns[4];
  std::vector<float> table;
  u32 blocks = 0;
};

/// Runs `kernel` on a list of tensors and says what is wrong: nothing, a fault, or where it
/// differs.
std::string check(const emulator::BundledKernel &kernel, const std::vector<Shape> &shapes, Way way,
                  size_t guard, u64 seed) {
  std::vector<std::unique_ptr<Tensor>> run, expected;
  Call call(way);
  for (const Shape &shape : shapes) {
    const unsigned tensorSeed = static_cast<unsigned>(seed + run.size());
    expected.push_back(std::make_unique<Tensor>(shape.count, shape.shift, 0, tensorSeed));
    run.push_back(std::make_unique<Tensor>(shape.count, shape.shift, guard, tensorSeed));
    plainLoop(*expected.back());
    call.add(*run.back(), shape);
  }
  if (auto fault = call.run(kernel, seed))
    return *fault;
  for (size_t k = 0; k < run.size(); ++k) {
    Tensor &a = *run[k], &b = *expected[k];
    if (a.p.guardsChanged() || a.m.guardsChanged() || a.v.guardsChanged() || a.g.guardsChanged())
      return "a guard of tensor " + std::to_string(k) + " changed";
    for (size_t i = 0; i < a.count; ++i)
      if (memcmp(&a.p[i], &b.p[i], 4) || memcmp(&a.m[i], &b.m[i], 4) || memcmp(&a.v[i], &b.v[i], 4))
        return "element " + std::to_string(i) + " of tensor " + std::to_string(k) + " differs";
  }
  return "";
}

/// Runs `kernel` on one chunk of a tensor of `size` elements, and says what is wrong.
std::string checkChunk(const emulator::BundledKernel &kernel, Chunk chunk, size_t size,
                       size_t guard) {
  Tensor run(size, 0, guard, 7), expected(size, 0, 0, 7), untouched(size, 0, 0, 7);
  plainLoop(expected);
  Call call(WAYS[0]);
  call.add(run, {0, 0});
  call.add(chunk);
  if (auto fault = call.run(kernel, 1))
    return *fault;
  for (u32 i = 0; i < size; ++i) {
    const bool inside = i >= chunk.first && i < chunk.first + chunk.count;
    if (memcmp(&run.p[i], &(inside ? expected : untouched).p[i], 4))
      return "element " + std::to_string(i);
  }
  return "";
}

const std::vector<std::vector<Shape>> LISTS = {
    {{1, 0}},
    {{V - 1, 0}},
    {{V, 0}},
    {{V + 1, 0}},
    {{CHUNK - 1, 0}},
    {{CHUNK, 0}},
    {{CHUNK + 1, 0}},
    {{3 * CHUNK + 5, 0}},
    {{100, 1}},
    {{CHUNK + 7, 3}},
    {{5, 2}},
    {{100, 2}},
    {{2 * CHUNK + 9, 2}},
    {},
    {{0, 0}, {10, 0}, {0, 0}},
    // A mutant that takes a chunk of another tensor stays inside memory.
    {{CHUNK, 0}, {CHUNK, 0}},
    {{CHUNK, 0}, {CHUNK, 0}, {CHUNK, 0}},
    {{9, 0}, {4099, 1}, {0, 0}, {64, 0}, {1, 3}},
};

TEST(Chunk, EqualsAPlainLoopToTheBit) {
  for (size_t k = 0; k < LISTS.size(); ++k)
    for (size_t way = 0; way < std::size(WAYS); ++way)
      for (u64 seed : {1, 2, 3})
        EXPECT_EQ(check(fw_bundle_samples[0], LISTS[k], WAYS[way], 0, seed), "")
            << "list " << k << ", way " << way << ", seed " << seed;
}

TEST(Chunk, HeadOfAnAlignedMiddleGoesOneByOne) {
  // Chunks whose `first` is no multiple of V, as a shard of a tensor has: head, vectors and tail.
  for (u32 first : {1u, 2u, 3u, 5u})
    for (u32 count : {1u, 2u, 6u, 7u, 8u, 21u, 2047u}) {
      const u32 head = std::min(count, (V - first % V) % V);
      EXPECT_EQ(checkChunk(fw_bundle_samples[0], {.first = first, .count = count, .head = head},
                           first + count + 3, 0),
                "")
          << first << " " << count;
    }
}

TEST(Chunk, EveryMutantIsCaught) {
  int mutants = 0;
  for (const auto *kernel = fw_bundle_samples + 1; kernel->symbol; ++kernel, ++mutants) {
    // One chunk with all three parts: head, vectors and tail.
    std::string found = checkChunk(*kernel, {.first = 2, .count = 31, .head = 2}, 40, 64);
    for (size_t k = 0; k < LISTS.size() && found.empty(); ++k)
      for (size_t way = 0; way < std::size(WAYS) && found.empty(); ++way)
        found = check(*kernel, LISTS[k], WAYS[way], 64, 1);
    EXPECT_NE(found, "") << kernel->file << " passes";
  }
  EXPECT_EQ(mutants, 16);
}

TEST(Chunk, ConstantsReachTheTable) {
  const emulator::BundledKernel &k = fw_bundle_samples[0];
  EXPECT_STREQ(k.symbol, "fw_sample");
  EXPECT_EQ(k.vector, 4);
  EXPECT_EQ(k.inflight, 2);
  EXPECT_EQ(k.threads, 512);
  EXPECT_EQ(k.chunk, static_cast<int>(CHUNK));
  EXPECT_EQ(k.operands, 4);
  EXPECT_EQ(k.slots, 7);
  EXPECT_EQ(k.realBytes, 4);
  EXPECT_EQ(k.parameterBytes, sizeof(Parameter));
}

} // namespace
} // namespace fw
