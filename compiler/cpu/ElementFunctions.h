// The dialect's element operations in lanes.
#pragma once

#include "compiler/cpu/Lanes.h"

namespace fw::cpu {

/// Builds `op` (of arith, math or fuse; not a load, store or cast) on `operands`, which have their
/// lanes already. Functions come from templates/vocab/math.h; what IEEE rounds once is one
/// instruction. Fails, with an error on `op`, for an operation that elements do not have.
mlir::FailureOr<mlir::Value> buildElementOp(const Lanes &lanes, mlir::Operation &op,
                                            mlir::ValueRange operands);

} // namespace fw::cpu
