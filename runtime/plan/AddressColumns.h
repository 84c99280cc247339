// Where the segments of a program's groups stand: a column of addresses per operand, on the host
// and on the device, shared by all kernels of the program.
#pragma once

#include "runtime/plan/DeviceTable.h"
#include "runtime/plan/ProgramLists.h"

namespace fw::plan {

/// The columns of one kernel, by its operands.
using ColumnSpans = std::vector<std::span<const uint64_t>>;

class AddressColumns {
public:
  /// Of the operands that a kernel of the program has; `lists` must outlive this.
  AddressColumns(const ProgramLists &lists, std::span<const Group> groups,
                 std::vector<uint32_t> operands);

  /// Makes the tables.
  Result<void> allocate(const DeviceWorld &world);
  /// Sends the columns that changed.
  Result<void> update(const DeviceWorld &world, driver::CUstream stream, bool capturing);
  /// The table of an operand, on the device.
  uint64_t address(uint32_t operand) const { return columns[place(operand)].table.address(); }

  bool has(size_t operand) const;
  /// New addresses of `operand` for all given entries of a group, which hold from commit() on. The
  /// bits in which they differ.
  uint64_t stage(const Group &group, size_t number, size_t operand,
                 std::span<void *const> pointers);
  void commit();
  /// Host columns of some operands: those that hold, or, where `isStaged`, will after commit().
  ColumnSpans spans(std::span<const uint32_t> operands, bool isStaged);

  void freeze();
  size_t workspaceBytes() const;

private:
  struct Column {
    uint32_t operand;
    std::vector<uint64_t> addresses; ///< by segment
    DeviceTable table;
    bool isStale = true; ///< the device has others
  };
  size_t place(size_t operand) const;

  const ProgramLists &lists;
  std::vector<Column> columns;
  // What is staged. Vectors are kept for their memory.
  std::vector<uint64_t> staged, stagedColumn; ///< the group's part, and the whole column
  size_t stagedPlace = 0, stagedFirst = 0;
  bool hasChanged = false;
};

} // namespace fw::plan
