// The parameter of a kernel of pattern `elements`, filled by a host that has no instance of
// fw::ElementsLaunch for it.
#pragma once

#include "templates/vocab/launch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fw::plan {

/// Bytes that a launch copies. Everything is 0 at first: no tables, no segments, row 0.
class ElementsArguments {
public:
  /// Of a kernel with so many operands and scalar slots, which are f64 where `doubles`, else f32.
  ElementsArguments(int operands, int slots, bool doubles);

  /// Tables in device memory. Without chunks a launch walks the segments that are in here.
  void chunks(uint64_t address) { put(0, address); }
  void column(int operand, uint64_t address) {
    put(layout.pointers + 8 * uint32_t(operand), address);
  }

  /// The scalar table in device memory of a launch with chunks; 0: the rows that are in here.
  void scalars(uint64_t address) { put(layout.scalars, address); }
  void perEntry(bool byEntry) { put(layout.perEntry, uint32_t(byEntry)); }

  void policy(uint64_t word) { put(layout.policy, word); }

  /// Most segments and rows that there is room for.
  size_t segmentRoom() const { return fw::segmentRoom(operands); }
  size_t rowRoom() const { return fw::rowRoom(operands, slots, realBytes); }

  /// Segment `number` and the addresses of its operands. `Segment::row` is final here.
  void segment(size_t number, const Segment &segment, std::span<const uint64_t> addresses);
  void segmentCount(uint32_t count) { put(layout.segmentCount, count); }

  /// Row `number` of the scalars, rounded once; rows 0, 1 ... behind one another.
  void row(size_t number, std::span<const double> numbers);
  void rows(std::span<const double> numbers);

  /// The same rounding for a table in device memory.
  std::vector<std::byte> packRows(std::span<const double> numbers) const;

  /// What a launch takes the address of.
  void *data() { return memory.data(); }
  std::span<const std::byte> bytes() const { return memory; }

private:
  template <class T> void put(uint32_t at, T value) {
    std::memcpy(memory.data() + at, &value, sizeof value);
  }

  uint32_t operands, slots, realBytes;
  ElementsLayout layout;
  std::vector<std::byte> memory;
};

} // namespace fw::plan
