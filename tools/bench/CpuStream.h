// The yardstick of the CPU: memory read and written on all cores, with next to no arithmetic.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fw::bench {

/// Arrays of one pass: words that are read, written, or both.
class CpuStream {
public:
  struct Array {
    uint64_t words; ///< of 4 bytes
    bool isRead, isWritten;
  };
  CpuStream(const std::vector<Array> &arrays, unsigned threads);

  /// One pass over all arrays.
  void run();

private:
  struct Free {
    void operator()(uint32_t *memory) const;
  };
  struct Memory {
    Array array;
    std::unique_ptr<uint32_t[], Free> words;
  };
  void runPart(uint64_t part, uint64_t parts);

  unsigned threads;
  std::vector<Memory> memory;
};

} // namespace fw::bench
