// What a kernel over rows does, in the order of the hooks that a skeleton calls (templates/rows):
// passes that end in an exchange between the threads of a row, a pass that stores, and between them
// what is computed once a row.
#pragma once

#include "compiler/dialect/Fuse.h"

namespace fw::fuse {

/// Passes whose results the threads of a row find together, in one exchange. With a `reference`,
/// what `reduction` sums is about a result of that: threads have it of their own columns first.
struct RowExchange {
  enum class Pair { none, moments, max_sum_exp };

  EachOp reference; ///< null without a pair
  EachOp reduction;
  Pair pair = Pair::none;
};

class RowPhases {
public:
  explicit RowPhases(KernelOp kernel);

  llvm::ArrayRef<RowExchange> exchanges() const { return found; }
  /// The pass that stores elements, or null.
  EachOp storing() const { return last; }

  /// Numbers of the times when something of a row is computed: before the first exchange, when the
  /// reference of exchange e is known, and behind it.
  static constexpr unsigned kBegin = 0;
  static constexpr unsigned settled(unsigned exchange) { return 2 * exchange + 1; }
  static constexpr unsigned finished(unsigned exchange) { return 2 * exchange + 2; }

  /// What is computed at that time, in order, as early as its operands are there.
  llvm::ArrayRef<mlir::Operation *> computedAt(unsigned time) const { return byTime[time]; }
  /// When a value of the row is there; one of a launch always is.
  unsigned timeOf(mlir::Value value) const;

  /// Stores of what a row has one of.
  llvm::ArrayRef<StoreOp> rowStores() const { return stores; }

  /// Whether the reference's count of elements is needed.
  bool isCounted() const;
  /// Numbers that the threads of a row exchange at a time, at most.
  unsigned exchangedValues() const;

private:
  void addReducing(EachOp each, EachOp &open);
  void place(mlir::Operation *op);

  llvm::SmallVector<RowExchange> found;
  EachOp last;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> byTime;
  llvm::DenseMap<mlir::Operation *, unsigned> times; // looked up only
  llvm::SmallVector<StoreOp> stores;
};

/// How a kernel over rows meets an operand.
enum class RowAccess {
  stream, ///< a value for each column of each row
  column, ///< a value for each column, of all rows
  row     ///< a value for each row, or for some of them in common
};
RowAccess rowAccess(KernelOp kernel, OperandAttr operand);

/// Axes that the records of a scheduled kernel's launches have: the axis `row` may have several
/// dimensions, one that is named has one.
int64_t launchAxes(KernelOp kernel);

} // namespace fw::fuse
