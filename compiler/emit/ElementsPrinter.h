// The struct of a kernel of pattern `elements` (templates/elements).
#pragma once

#include "compiler/emit/StructText.h"
#include "compiler/support/Error.h"

namespace fw::emit {

Result<std::string> printElementsOp(KernelParts parts);

} // namespace fw::emit
