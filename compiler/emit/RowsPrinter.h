// The struct of a kernel of pattern `rows` (templates/rows).
#pragma once

#include "compiler/emit/StructText.h"
#include "compiler/support/Error.h"

namespace fw::emit {

Result<std::string> printRowsOp(KernelParts parts);

} // namespace fw::emit
