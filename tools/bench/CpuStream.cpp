#include "tools/bench/CpuStream.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#if defined(__x86_64__)
#define FW_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FW_VECTOR
#endif

namespace fw::bench {

namespace {

constexpr uint64_t pageBytes = 4096;

FW_VECTOR uint32_t read(const uint32_t *words, uint64_t count) {
  uint32_t sum = 0;
  for (uint64_t i = 0; i < count; ++i)
    sum += words[i];
  return sum;
}

FW_VECTOR void write(uint32_t *words, uint64_t count, uint32_t value) {
  for (uint64_t i = 0; i < count; ++i)
    words[i] = value;
}

FW_VECTOR void update(uint32_t *words, uint64_t count, uint32_t value) {
  for (uint64_t i = 0; i < count; ++i)
    words[i] += value;
}

} // namespace

void CpuStream::Free::operator()(uint32_t *memory) const { std::free(memory); }

CpuStream::CpuStream(const std::vector<Array> &arrays, unsigned threads) : threads(threads) {
  for (const Array &array : arrays) {
    const uint64_t bytes = (array.words * sizeof(uint32_t) / pageBytes + 1) * pageBytes;
    auto *words = static_cast<uint32_t *>(std::aligned_alloc(pageBytes, bytes));
    if (!words)
      throw std::bad_alloc();
    std::fill_n(words, array.words, 1);
    memory.push_back({array, std::unique_ptr<uint32_t[], Free>(words)});
  }
}

void CpuStream::run() {
  // Shares are taken as threads come by, so that one that waits for its core holds up no other.
  const uint64_t parts = uint64_t(threads) * 32;
  std::atomic<uint64_t> next = 0;
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      for (uint64_t part = next++; part < parts; part = next++)
        runPart(part, parts);
    });
  for (std::thread &thread : pool)
    thread.join();
}

/// A share of every array, all side by side as a kernel takes them.
void CpuStream::runPart(uint64_t part, uint64_t parts) {
  constexpr uint64_t blockWords = 256;
  uint64_t longest = 0;
  for (const Memory &one : memory)
    longest = std::max(longest, one.array.words);
  const uint64_t blocks = longest / blockWords + 1;
  uint32_t value = 1;
  for (uint64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block)
    for (Memory &one : memory) {
      const uint64_t begin = one.array.words * block / blocks,
                     count = one.array.words * (block + 1) / blocks - begin;
      uint32_t *words = one.words.get() + begin;
      if (one.array.isRead && one.array.isWritten)
        update(words, count, value);
      else if (one.array.isWritten)
        write(words, count, value);
      else
        value |= read(words, count);
    }
}

} // namespace fw::bench
