#include "runtime/plan/ElementsArguments.h"

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

ElementsArguments::ElementsArguments(int operands, int slots, bool doubles)
    : operands(uint32_t(operands)), slots(uint32_t(slots)),
      realBytes(doubles ? sizeof(double) : sizeof(float)),
      layout(this->operands, this->slots, realBytes), memory(layout.bytes) {}

void ElementsArguments::segment(size_t number, const Segment &segment,
                                std::span<const uint64_t> addresses) {
  const size_t rowBytes = operands * sizeof(uint64_t);
  std::memcpy(memory.data() + layout.segments + number * sizeof segment, &segment, sizeof segment);
  std::memcpy(memory.data() + layout.addresses + number * rowBytes, addresses.data(), rowBytes);
}

void ElementsArguments::row(size_t number, std::span<const double> numbers) {
  round(numbers, realBytes, memory.data() + layout.rows + number * slots * realBytes);
}

void ElementsArguments::rows(std::span<const double> numbers) { row(0, numbers); }

std::vector<std::byte> ElementsArguments::packRows(std::span<const double> numbers) const {
  std::vector<std::byte> packed(numbers.size() * realBytes);
  round(numbers, realBytes, packed.data());
  return packed;
}

} // namespace fw::plan
