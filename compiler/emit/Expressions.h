// Values of a module as expressions: single-use values stand inside the expression of their user.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/emit/Spelling.h"
#include "compiler/support/Error.h"

namespace fw::emit {

/// The text of every value printed so far, in CUDA or plainly.
class Expressions {
public:
  enum class Column { Cuda, Plain };
  explicit Expressions(Column column) : column(column) {}

  void set(mlir::Value value, Text text) { texts[value] = std::move(text); }
  const Text &of(mlir::Value value) const { return texts.find(value)->second; }

  /// `op` spelled by the table over the texts of its operands; INTERNAL where the table has none.
  Result<Text> spell(mlir::Operation *op) const;

private:
  Column column;
  llvm::DenseMap<mlir::Value, Text> texts; // looked up only
};

/// The key of `op` in spelling.def.
std::string spellingKey(mlir::Operation *op);

/// How often the value of `op` is read by text; a conversion to a storage dtype has no text of its
/// own, so its readers count.
unsigned countReaders(mlir::Operation *op);

/// Whether the value of `op` gets a line of its own: it has a name, several readers, or a text that
/// is too long or deep to be read inside another.
bool wantsLine(mlir::Operation *op, const Text &text);

/// Whether `cast` makes a stored value, and not a number that arithmetic goes on with: a row may
/// compute in f64 what its elements do not.
bool isToStorage(fuse::CastOp cast);

} // namespace fw::emit
