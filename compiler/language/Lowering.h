// From a checked op with folded options to the semantic level of the dialect.
#pragma once

#include "compiler/language/OpInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <set>
#include <string>

namespace fw::language {

/// A module with one fuse.op. Operands named in `absent` (optional ones) leave its operand table
/// and read as their neutral value. An error is one of the module's verifier, thus a fault of this
/// room.
Result<mlir::OwningOpRef<mlir::ModuleOp>> lowerOp(mlir::MLIRContext &context, const ResolvedOp &op,
                                                  const std::set<std::string> &absent = {});

} // namespace fw::language
