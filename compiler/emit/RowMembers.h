// What a kernel over rows knows of a row from one hook of its struct to another: members of Row.
#pragma once

#include "compiler/dialect/RowPhases.h"
#include "compiler/emit/BodyPrinter.h"

#include <optional>

namespace fw::emit {

class RowMembers {
public:
  RowMembers(fuse::KernelOp kernel, const fuse::RowPhases &phases);

  /// struct Row.
  std::string print();

  /// The name of a value that other hooks than the one which computes it read.
  std::optional<std::string> nameOf(mlir::Value value) const;

  /// The texts of slots, constants and members, as all hooks know them.
  Expressions texts() const;

private:
  void add(mlir::Value value);

  fuse::KernelOp kernel;
  const fuse::RowPhases &phases;
  llvm::SmallVector<std::pair<mlir::Value, std::string>> members;
  Names names;
};

} // namespace fw::emit
