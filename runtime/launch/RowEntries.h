// The tensors of ops over rows made ready: where each row of each operand stands, for loops on the
// CPU and for the records of a GPU's launches. Launches of usual ops allocate nothing for them.
#pragma once

#include "runtime/launch/Axes.h"
#include "runtime/launch/Program.h"

namespace fw::launch {

/// One operand of an entry: how far apart its rows are along each axis in front.
struct RowOperand {
  struct Dimension {
    int64_t size, byteStride;
    uint32_t axis; ///< of the header, in front of the row
    bool operator==(const Dimension &other) const {
      return size == other.size && axis == other.axis &&
             (size <= 1 || byteStride == other.byteStride);
    }
  };
  char *data = nullptr;
  bool spans = false;                         ///< has a value for each column
  int64_t rowBytes = 0;                       ///< that a row reads or writes, or chooses from
  llvm::SmallVector<Dimension, 4> dimensions; ///< by axis; of an axis slowest first

  /// A place on an axis of several dimensions counts them row-major.
  int64_t offset(std::span<const int64_t> index) const;
};

/// A list entry made ready.
class RowEntry {
public:
  RowEntry(const Program &program, const Lengths &extents, size_t position);

  /// Tensors are added in the order of operands. The axis that a row spans is contiguous in each;
  /// the axes in front of it may have any strides.
  Result<void> add(size_t k, const fw_tensor &tensor);

  size_t position() const { return number; }
  size_t axesInFront() const { return outer; }
  int64_t rows() const { return rowCount; }
  int64_t columns() const { return extents[outer]; }
  std::span<const int64_t> lengths() const { return extents; }
  const RowOperand &operand(size_t k) const { return operands[k]; }

private:
  Result<void> place(RowOperand &added, const Operand &operand, uint32_t axis,
                     const fw_tensor &tensor, size_t d) const;

  const Program &program;
  size_t number; ///< in the caller's list
  size_t outer;  ///< axes in front of the row's
  Lengths extents;
  int64_t rowCount = 1;
  llvm::SmallVector<RowOperand, 6> operands; ///< as in the program
};
using RowEntries = std::vector<RowEntry>;

/// Tensors and scalars of a launch over rows, checked.
struct RowsInput {
  RowEntries entries;
  ScalarRows scalars;
};
Result<RowsInput> readRows(const Program &program, const TensorArray &tensors,
                           const ScalarArray &scalars, Place place);

/// The results of a stage's scalar program for an entry, in f64.
using RowSlots = llvm::SmallVector<double, 16>;
RowSlots rowSlots(const Stage &stage, std::span<const double> hypers, const RowEntry &entry);

} // namespace fw::launch
