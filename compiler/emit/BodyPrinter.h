// The body of one pass over elements.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/support/Error.h"

#include <string>

namespace fw::emit {

/// CUDA's name of a number's type: float, double, bool.
std::string typeText(mlir::Type type);

/// CUDA's name of a storage dtype (dtypes.def): fw::bf16.
std::string storageText(llvm::StringRef dtype);

/// Names of members: in.v_p, out.v_p, u.v_lr.
std::string memberName(llvm::StringRef name);

/// The statements of `each` for element k, one a line with `indent` before it. `equations` gives
/// the text behind a label.
Result<std::string> printBody(fuse::EachOp each, mlir::DictionaryAttr equations,
                              const std::string &indent);

} // namespace fw::emit
