#include "runtime/plan/KernelArguments.h"

namespace fw::plan {
namespace {

void round(std::span<const double> numbers, uint32_t realBytes, std::byte *out) {
  for (double number : numbers) {
    const float narrow = float(number);
    std::memcpy(out, realBytes == sizeof number ? static_cast<const void *>(&number) : &narrow,
                realBytes);
    out += realBytes;
  }
}

} // namespace

void KernelArguments::row(size_t number, std::span<const double> numbers) {
  round(numbers, realBytes, memory.data() + places.rows + number * slots * realBytes);
}

std::vector<std::byte> KernelArguments::packRows(std::span<const double> numbers) const {
  std::vector<std::byte> packed(numbers.size() * realBytes);
  round(numbers, realBytes, packed.data());
  return packed;
}

} // namespace fw::plan
