// The reference of a request: its equations, evaluated on the host (compiler/dialect/evaluator).
#pragma once

#include "compiler/Request.h"
#include "compiler/dialect/evaluator/Compare.h"
#include "compiler/dialect/evaluator/Evaluator.h"
#include "compiler/dialect/evaluator/Storage.h"

#include <memory>

namespace fw {

/// Used by one thread at a time; evaluates any number of lists.
class Reference {
public:
  /// Lowers the request's op.
  static Result<Reference> make(const ResolvedRequest &request);
  Reference(Reference &&);
  ~Reference();

  /// Operands of `inputs.data` and columns of `inputs.scalars` are those of the request, in its
  /// order.
  Result<evaluator::Evaluation> evaluate(const evaluator::Inputs &inputs) const;
  /// By place in the request's scalars: whether the decision to skip, or a number that is one in
  /// all, depends on it.
  std::vector<bool> sharedScalars() const;
  /// Whether the op has reductions, whose bits depend on the backend.
  bool reduces() const;
  /// The bits of a kernel that works; refused where the op reduces.
  Result<evaluator::Bits> interpret(const evaluator::Inputs &inputs) const;

private:
  struct Impl;
  explicit Reference(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace fw
