// The parameter of a kernel of pattern `elements`, filled by a host that has no instance of its
// struct. Each has the members of this class; subclasses add their own.
#pragma once

#include "templates/vocab/launch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fw::plan {

/// Bytes that a launch copies. Everything is 0 at first: no tables, row 0.
class KernelArguments {
public:
  /// Tables in device memory.
  void chunks(uint64_t address) { put(0, address); }
  void column(int operand, uint64_t address) {
    put(places.pointers + 8 * uint32_t(operand), address);
  }

  /// The scalar table in device memory of a launch with chunks; 0: the rows that are in here.
  void scalars(uint64_t address) { put(places.scalars, address); }
  void perEntry(bool byEntry) { put(places.perEntry, uint32_t(byEntry)); }

  void policy(uint64_t word) { put(places.policy, word); }

  /// Most rows that there is room for.
  size_t rowRoom() const { return places.rowRoom; }

  /// Row `number` of the scalars, rounded once; rows 0, 1 ... behind one another.
  void row(size_t number, std::span<const double> numbers);
  void rows(std::span<const double> numbers) { row(0, numbers); }

  /// The same rounding for a table in device memory.
  std::vector<std::byte> packRows(std::span<const double> numbers) const;

  /// What a launch takes the address of.
  void *data() { return memory.data(); }
  std::span<const std::byte> bytes() const { return memory; }

protected:
  /// Where the members stand.
  struct Places {
    uint32_t pointers, scalars, policy, perEntry, rows, bytes;
    uint32_t rowRoom;
  };
  template <class Layout> static Places placesOf(const Layout &layout, uint32_t rowRoom) {
    return {layout.pointers, layout.scalars, layout.policy, layout.perEntry,
            layout.rows,     layout.bytes,   rowRoom};
  }
  KernelArguments(uint32_t operands, uint32_t slots, uint32_t realBytes, const Places &places)
      : operands(operands), slots(slots), realBytes(realBytes), places(places),
        memory(places.bytes) {}

  template <class T> void put(uint32_t at, const T &value) {
    std::memcpy(memory.data() + at, &value, sizeof value);
  }
  static uint32_t bytesOfReal(bool doubles) { return doubles ? sizeof(double) : sizeof(float); }

  uint32_t operands, slots, realBytes;

private:
  Places places;
  std::vector<std::byte> memory;
};

} // namespace fw::plan
