// The codes of templates/vocab/scalar_operations.h that operations of the scalar program have.
#pragma once

#include "compiler/dialect/Fuse.h"

#include <string>

namespace fw::emit {

/// "add", "round_e4m3fn_sat"; empty for an operation that is no step of the scalar program: inputs,
/// constants, results, and conversions that change nothing in f64.
std::string scalarCode(mlir::Operation *op);

/// `double scalar(fw::ScalarCode code, double a, double b, double c)` for a kernel whose last block
/// runs `scalars`: a switch over the codes in there, each line beginning with `indent`.
std::string printScalarSwitch(fuse::ScalarsOp scalars, const std::string &indent);

} // namespace fw::emit
