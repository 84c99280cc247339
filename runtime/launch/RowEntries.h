// The tensors of ops over rows made ready: where each row of each operand stands, for loops on the
// CPU and for the records of a GPU's launches.
#pragma once

#include "runtime/launch/Axes.h"
#include "runtime/launch/Program.h"

namespace fw::launch {

/// One operand of an entry: how far apart its rows are along each axis in front.
struct RowOperand {
  struct Dimension {
    int64_t size, byteStride;
    bool operator==(const Dimension &other) const {
      return size == other.size && (size <= 1 || byteStride == other.byteStride);
    }
  };
  char *data = nullptr;
  std::vector<std::vector<Dimension>> axes; ///< by header axis in front of the row; slowest first

  /// A place on an axis of several dimensions counts them row-major.
  int64_t offset(std::span<const int64_t> index) const;
  /// The bytes that all rows touch lie in [first, second).
  std::pair<const char *, const char *> range(int64_t rowBytes) const;
};

/// A list entry made ready.
class RowEntry {
public:
  RowEntry(const Program &program, std::span<const int64_t> extents, size_t position);

  /// Tensors are added in the order of operands. The axis that a row spans is contiguous in each;
  /// the axes in front of it may have any strides.
  Result<void> add(size_t k, const fw_tensor &tensor);

  /// Written memory is shared with nothing but, element by element, with what is only read.
  Result<void> checkSharing() const;

  size_t position() const { return number; }
  size_t axesInFront() const { return outer; }
  int64_t rows() const { return rowCount; }
  int64_t columns() const { return columnCount; }
  std::span<const int64_t> lengths() const { return extents; }
  const RowOperand &operand(size_t k) const { return operands[k]; }
  /// Whether an operand has a value for each column.
  bool spans(size_t k) const;

private:
  Result<void> place(RowOperand &added, const Operand &operand, const std::string &axis,
                     const fw_tensor &tensor, size_t d) const;
  int64_t rowBytes(size_t k) const;
  bool shares(size_t a, size_t b) const;

  const Program &program;
  size_t number; ///< in the caller's list
  size_t outer;  ///< axes in front of the row's
  std::vector<int64_t> extents;
  int64_t columnCount, rowCount = 1;
  std::vector<RowOperand> operands; ///< as in the program
};

/// Every entry made ready; of written memory that is shared nothing is run.
Result<std::vector<RowEntry>> makeEntries(const Program &program, const TensorArray &tensors,
                                          const AxisList &list);

/// Tensors and scalars of a launch over rows, checked.
struct RowsInput {
  std::vector<RowEntry> entries;
  ScalarRows scalars;
};
Result<RowsInput> readRows(const Program &program, const TensorArray &tensors,
                           const ScalarArray &scalars, Place place);

/// The results of a stage's scalar program for an entry, in f64.
std::vector<double> rowSlots(const Stage &stage, std::span<const double> hypers,
                             const RowEntry &entry);

} // namespace fw::launch
