// Skeleton `chunk` with its sample optimizer, against a plain loop over the same elements: equal to
// the bit, for every shape of list; and mutants of the skeleton that must not pass.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "templates/vocab/arithmetic.h"
#include "templates/vocab/bf16.h"
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
};

/// Runs `kernel` on a list of tensors and says what is wrong: nothing, a fault, or where it
/// differs.
std::string check(const emulator::BundledKernel &kernel, const std::vector<Shape> &shapes,
                  size_t guard, u64 seed) {
  std::vector<std::unique_ptr<Tensor>> run, expected;
  std::vector<u64> pointers;
  std::vector<Chunk> chunks;
  for (const Shape &shape : shapes) {
    const unsigned tensorSeed = static_cast<unsigned>(seed + run.size());
    expected.push_back(std::make_unique<Tensor>(shape.count, shape.shift, 0, tensorSeed));
    Tensor &t =
        *run.emplace_back(std::make_unique<Tensor>(shape.count, shape.shift, guard, tensorSeed));
    plainLoop(*expected.back());
    for (u64 pointer : {(u64)t.p.data(), (u64)t.g.data(), (u64)t.m.data(), (u64)t.v.data()})
      pointers.push_back(pointer);
    // bf16 and f32 reach a boundary after a different number of elements unless shift is a multiple
    // of V: such tensors go one by one. Otherwise only the first chunk has a head.
    const u32 head = static_cast<u32>(shape.shift % V);
    for (u64 first = 0; first < shape.count; first += CHUNK) {
      const u32 count = static_cast<u32>(std::min<u64>(CHUNK, shape.count - first));
      chunks.push_back({first, count, head ? count : 0, static_cast<u32>(run.size() - 1), 1});
    }
  }
  float table[2 * std::size(SCALARS)]; // row 0 is another group's
  std::fill_n(table, std::size(SCALARS), NAN);
  std::copy(std::begin(SCALARS), std::end(SCALARS), table + std::size(SCALARS));
  if (auto fault = emulate(kernel, chunks, pointers.data(), table, seed))
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
    {},
    {{0, 0}, {10, 0}, {0, 0}},
    {{9, 0}, {4099, 1}, {0, 0}, {64, 0}, {1, 3}},
};

TEST(Chunk, EqualsAPlainLoopToTheBit) {
  for (size_t k = 0; k < LISTS.size(); ++k)
    for (u64 seed : {1, 2, 3})
      EXPECT_EQ(check(fw_bundle_samples[0], LISTS[k], 0, seed), "")
          << "list " << k << ", seed " << seed;
}

TEST(Chunk, HeadOfAnAlignedMiddleGoesOneByOne) {
  // Chunks whose `first` is no multiple of V, as a shard of a tensor has: head, vectors and tail.
  for (u32 first : {1u, 2u, 3u, 5u})
    for (u32 count : {1u, 2u, 6u, 7u, 8u, 21u, 2047u}) {
      Tensor run(first + count + 3, 0, 0, 7), expected(first + count + 3, 0, 0, 7),
          untouched(first + count + 3, 0, 0, 7);
      plainLoop(expected);
      const Chunk chunk{first, count, std::min(count, (V - first % V) % V), 0, 0};
      const u64 pointers[] = {(u64)run.p.data(), (u64)run.g.data(), (u64)run.m.data(),
                              (u64)run.v.data()};
      ASSERT_EQ(emulate(fw_bundle_samples[0], {&chunk, 1}, pointers, SCALARS, 1), std::nullopt);
      for (u32 i = 0; i < run.count; ++i) {
        const bool inside = i >= first && i < first + count;
        ASSERT_EQ(run.p[i], (inside ? expected : untouched).p[i])
            << first << " " << count << " " << i;
      }
    }
}

TEST(Chunk, EveryMutantIsCaught) {
  int mutants = 0;
  for (const auto *kernel = fw_bundle_samples + 1; kernel->symbol; ++kernel, ++mutants) {
    std::string found;
    for (size_t k = 0; k < LISTS.size() && found.empty(); ++k)
      found = check(*kernel, LISTS[k], 64, 1);
    // Lists of aligned tensors have no head: one chunk with all three parts.
    if (found.empty()) {
      Tensor run(40, 0, 64, 7), expected(40, 0, 0, 7), untouched(40, 0, 0, 7);
      plainLoop(expected);
      const Chunk chunk{2, 31, 2, 0, 0};
      const u64 pointers[] = {(u64)run.p.data(), (u64)run.g.data(), (u64)run.m.data(),
                              (u64)run.v.data()};
      found = emulate(*kernel, {&chunk, 1}, pointers, SCALARS, 1).value_or("");
      for (u32 i = 0; i < run.count; ++i)
        if (memcmp(&run.p[i], &(i >= 2 && i < 33 ? expected : untouched).p[i], 4))
          found = "element " + std::to_string(i);
    }
    EXPECT_NE(found, "") << kernel->file << " passes";
  }
  EXPECT_EQ(mutants, 10);
}

TEST(Chunk, ConstantsReachTheTable) {
  const emulator::BundledKernel &k = fw_bundle_samples[0];
  EXPECT_STREQ(k.symbol, "fw_sample");
  EXPECT_EQ(k.vector, 4);
  EXPECT_EQ(k.inflight, 2);
  EXPECT_EQ(k.threads, 512);
  EXPECT_EQ(k.operands, 4);
  EXPECT_EQ(k.slots, 7);
  EXPECT_EQ(k.realBytes, 4);
}

} // namespace
} // namespace fw
