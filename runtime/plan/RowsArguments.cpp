#include "runtime/plan/RowsArguments.h"

#include <algorithm>

namespace fw::plan {

RowsArguments::RowsArguments(uint32_t operands, uint32_t axes, uint32_t slots, bool doubles)
    : operands(operands), axes(axes), slots(slots),
      realBytes(doubles ? sizeof(double) : sizeof(float)),
      layout(operands, axes, slots, realBytes) {
  std::fill_n(memory.data(), std::min<size_t>(layout.bytes, memory.size()), std::byte(0));
}

void RowsArguments::record(size_t number, std::span<const uint64_t> addresses,
                           std::span<const int64_t> strides, std::span<const int64_t> sizes,
                           uint64_t rows, uint32_t firstBlock, uint32_t row) {
  const size_t at = RowsLayout::records + number * layout.recordBytes;
  std::memcpy(memory.data() + at + RowsLayout::addresses, addresses.data(), addresses.size_bytes());
  std::memcpy(memory.data() + at + layout.strides, strides.data(), strides.size_bytes());
  put(at + layout.rows, rows);
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    put(at + layout.sizes + axis * sizeof(uint32_t), uint32_t(sizes[axis]));
  put(at + layout.firstBlock, firstBlock);
  put(at + layout.row, row);
}

void RowsArguments::row(size_t number, std::span<const double> numbers) {
  const size_t at = layout.numbers + number * slots * realBytes;
  for (size_t slot = 0; slot < numbers.size(); ++slot)
    if (realBytes == sizeof(double))
      put(at + slot * realBytes, numbers[slot]);
    else
      put(at + slot * realBytes, float(numbers[slot]));
}

} // namespace fw::plan
