// The parameter of a kernel of pattern `rows`, filled by a host that has no instance of its struct.
#pragma once

#include "templates/vocab/rows_launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fw::plan {

class RowsArguments {
public:
  RowsArguments(uint32_t operands, uint32_t axes, uint32_t slots, bool doubles);

  /// Whether a record and the scalars beside it stand in a kernel's parameters at all.
  bool fits() const { return layout.bytes <= PARAMETER_BYTES; }
  size_t recordRoom() const { return rowsRecordRoom(operands, axes); }
  size_t rowRoom() const { return rowsScalarRoom(operands, axes, slots, realBytes); }

  void policy(uint64_t word) { put(RowsLayout::policy, word); }
  void columns(uint32_t count) { put(RowsLayout::columns, count); }
  void recordCount(uint32_t count) { put(RowsLayout::recordCount, count); }

  /// A tensor: `addresses` of the kernel's operands, `strides` of the first one on all axes, then
  /// of the next; `row` is that of the scalars.
  void record(size_t number, std::span<const uint64_t> addresses, std::span<const int64_t> strides,
              std::span<const int64_t> sizes, uint64_t rows, uint32_t firstBlock, uint32_t row);

  /// Row `number` of the scalars, rounded once.
  void row(size_t number, std::span<const double> numbers);

  void *data() { return memory.data(); }
  std::span<const std::byte> bytes() const { return std::span(memory).first(layout.bytes); }

private:
  template <class T> void put(size_t at, const T &value) {
    std::memcpy(memory.data() + at, &value, sizeof value);
  }

  uint32_t operands, axes, slots, realBytes;
  RowsLayout layout;
  alignas(8) std::array<std::byte, PARAMETER_BYTES> memory; // no launch allocates for it
};

} // namespace fw::plan
