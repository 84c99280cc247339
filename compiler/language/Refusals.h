// What the language refuses: for ever, or until a later version.
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/Diagnostics.h"

namespace fw::language {

/// Reports every construct of `op` that is refused, and calls of what is neither a function nor an
/// op. An op that passes holds nothing but what the checks and the lowering know. False where calls
/// lead into recursion, so that nothing more can be said of the op.
bool checkRefusals(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics);

} // namespace fw::language
