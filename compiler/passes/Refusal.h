// How a pass tells that it cannot do what the request asks for.
#pragma once

#include "compiler/support/Error.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace fw::passes {

/// Emits `error` at `op`. The diagnostic keeps the error whole, so that text and remedy reach the
/// caller apart.
mlir::InFlightDiagnostic refuse(mlir::Operation *op, const Error &error);

/// The error of a diagnostic that refuse() made; nothing for one of a verifier.
std::optional<Error> refusalOf(mlir::Diagnostic &diagnostic);

} // namespace fw::passes
