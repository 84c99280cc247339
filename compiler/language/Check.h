// The checks of a file: everything that is wrong beyond its grammar.
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/Diagnostics.h"

namespace fw::language {

/// Limit on untrusted text: each combination of option values is checked on its own.
constexpr size_t maxCombinations = 128;

/// Checks `op` for each combination of its options. `ops` are all ops of the file.
void checkOp(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics);

/// Reports names that two ops share.
void checkOpNames(const std::vector<Op> &ops, Diagnostics &diagnostics);

} // namespace fw::language
