// The evaluator's answers for a case.
#pragma once

#include "compiler/Request.h"
#include "compiler/dialect/evaluator/Evaluator.h"
#include "tools/verify/Cases.h"

#include <memory>

namespace fw::verify {

/// The request's module before and after contraction, ready to be evaluated. Used by one thread at
/// a time; the request must outlive it.
class Reference {
public:
  static Result<std::unique_ptr<Reference>> create(const ResolvedRequest &request);
  ~Reference();

  /// Values with the bounds that every kernel that works stays in.
  Result<evaluator::Evaluation> bounds(const Case &data) const;
  /// The exact words of a kernel.
  Result<evaluator::Bits> bits(const Case &data) const;

private:
  struct Module;
  explicit Reference(const ResolvedRequest &request);

  const ResolvedRequest &request;
  std::unique_ptr<Module> semantic, contracted;
};

} // namespace fw::verify
