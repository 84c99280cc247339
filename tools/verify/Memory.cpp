#include "tools/verify/Memory.h"

#include "compiler/dialect/evaluator/Storage.h"

#include <algorithm>

namespace fw::verify {

namespace {
constexpr std::byte guard{0xa5};
}

GuardedTensor::GuardedTensor(const Dtype &dtype, const std::vector<uint64_t> &words, size_t offset)
    : dtype(&dtype), count(words.size()), start(guardBytes + offset * dtype.bytes),
      storage(2 * guardBytes + start + count * dtype.bytes, guard) {
  std::ranges::copy(evaluator::pack(dtype, words), bytes() + start);
}

std::byte *GuardedTensor::bytes() const {
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  uintptr_t aligned = (address + guardBytes - 1) / guardBytes * guardBytes;
  return const_cast<std::byte *>(storage.data()) + (aligned - address);
}

std::vector<uint64_t> GuardedTensor::words() const {
  return evaluator::unpack(*dtype, {bytes() + start, count * dtype->bytes});
}

bool GuardedTensor::guardsAreIntact() const {
  auto isGuard = [](std::byte byte) { return byte == guard; };
  const std::byte *end = bytes() + start + count * dtype->bytes;
  return std::all_of(storage.data(), static_cast<const std::byte *>(bytes() + start), isGuard) &&
         std::all_of(end, storage.data() + storage.size(), isGuard);
}

} // namespace fw::verify
