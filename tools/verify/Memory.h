// Tensors of a case in memory, with guard bytes around them.
#pragma once

#include "compiler/dialect/Dtypes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fw::verify {

class GuardedTensor {
public:
  /// The first element lies `offset` elements behind an address that is a multiple of 256.
  GuardedTensor(const Dtype &dtype, const std::vector<uint64_t> &words, size_t offset);

  void *data() { return bytes() + start; }
  std::vector<uint64_t> words() const;
  bool guardsAreIntact() const;

private:
  static constexpr size_t guardBytes = 256;
  std::byte *bytes() const;

  const Dtype *dtype;
  size_t count, start;
  std::vector<std::byte> storage;
};

} // namespace fw::verify
