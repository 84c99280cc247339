#include "compiler/passes/Refusal.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace fw::passes {

InFlightDiagnostic refuse(Operation *op, const Error &error) {
  InFlightDiagnostic diagnostic = op->emitOpError() << render(error);
  for (const std::string &part : {error.text, error.remedy})
    diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(
        StringAttr::get(op->getContext(), part));
  return diagnostic;
}

std::optional<Error> refusalOf(Diagnostic &diagnostic) {
  auto &parts = diagnostic.getMetadata();
  if (parts.size() != 2)
    return std::nullopt;
  auto part = [&](size_t k) { return cast<StringAttr>(parts[k].getAsAttribute()).str(); };
  return Error{.code = Code::USAGE, .text = part(0), .remedy = part(1)};
}

} // namespace fw::passes
