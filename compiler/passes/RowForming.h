// The kernel over rows of an op: passes over the columns, and what is computed once a row.
#pragma once

#include "compiler/passes/ScalarForming.h"
#include "compiler/passes/Scopes.h"

#include "compiler/support/Error.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace fw::passes {

/// Why the op's rows cannot be formed into one kernel; nothing where they can.
std::optional<std::string> whyNoRows(fuse::OpOp op, const ScopeAnalysis &scopes);

/// The domain of the rows: those of an op without `;` span the last axis.
fuse::DomainAttr rowDomain(fuse::DomainAttr domain);

/// The axis that a row spans.
mlir::StringAttr spannedAxis(fuse::OpOp op);

/// Whether a value of the scalar program is made of an operand, which a kernel over rows loads.
bool readsOperand(fuse::OpOp op, mlir::Value value);

/// Fills a kernel of the pattern rows. The reductions of a row end a pass each time that one waits
/// for another; all that is stored is stored by the last pass and behind it, so that operands may
/// share memory element by element.
class RowForming {
public:
  RowForming(fuse::OpOp op, const ScopeAnalysis &scopes, ScalarForming &scalars,
             fuse::KernelOp kernel);
  void form();

private:
  bool isElement(mlir::Value value) const;
  unsigned passOf(mlir::Operation *inner) const;
  void formReducing(unsigned pass);
  void formStoring();
  void loadPartners(mlir::OpBuilder &builder, fuse::SwapPairsOp swap);
  void swapPairs(mlir::OpBuilder &builder, fuse::SwapPairsOp swap, mlir::IRMapping &inside);
  llvm::SetVector<mlir::Operation *> columnSlice(const llvm::DenseSet<mlir::Operation *> &roots);
  void prepareRow(const llvm::SetVector<mlir::Operation *> &slice);
  void fillEach(fuse::EachOp each, const llvm::SetVector<mlir::Operation *> &slice,
                mlir::IRMapping &inside);
  mlir::Value onRow(mlir::Value value);
  mlir::Value makeOnRow(mlir::Operation *inner);
  mlir::Value load(mlir::OpBuilder &where, mlir::Operation *source, mlir::IRMapping &mapping);
  mlir::Value numberRow();
  mlir::Value sizeOf(mlir::StringAttr axis);
  mlir::Value scalarOnRow(mlir::Value value);
  mlir::Value uniformOnRow(fuse::UniformOp uniform);
  mlir::Value slotOf(mlir::Location location, mlir::Value value, mlir::Type type);

  fuse::OpOp op;
  const ScopeAnalysis &scopes;
  ScalarForming &scalars;
  fuse::KernelOp kernel;
  mlir::OpBuilder body;     ///< at the end of the kernel
  mlir::IRMapping rows;     ///< values of a row, and slots
  mlir::Value firstElement; ///< the number of the row's, where it draws
  llvm::DenseMap<mlir::Operation *, mlir::IRMapping>
      partners;                                       ///< of swaps in the pass being filled
  llvm::DenseMap<mlir::Operation *, unsigned> passes; ///< the first that knows it
  unsigned last = 0;
};

} // namespace fw::passes
