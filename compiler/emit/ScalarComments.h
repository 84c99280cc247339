// The scalar program for the reader of a kernel.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/support/Error.h"

#include <string>

namespace fw::emit {

/// One comment line per slot and per named value: "// [2] c1 = 1 - beta1^t   E3".
Result<std::string> scalarComments(fuse::ScalarsOp scalars);

} // namespace fw::emit
