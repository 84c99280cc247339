// From the phase level to the plain program record.
#pragma once

#include "compiler/Request.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/jit/ProgramRecord.h"

namespace fw {

/// Operands, scalars and scalar program of `program`, and one kernel record per kernel with symbol,
/// pattern, arithmetic type, slots and schedule. Keys and the compiler's figures are left open.
Result<jit::ProgramRecord> buildRecord(fuse::ProgramOp program, const ResolvedRequest &request);

} // namespace fw
