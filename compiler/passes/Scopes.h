// The scope of every value of an op: an analysis that any pass of the semantic level can ask for.
#pragma once

#include "compiler/dialect/Fuse.h"

namespace fw::passes {

/// The least scope of an op over `domain` that contains both. Incomparable ones (blocks of two
/// sizes) are met by element. Axes stand in the domain's order; all of them are the element.
fuse::ScopeAttr joinScopes(fuse::ScopeAttr a, fuse::ScopeAttr b, fuse::DomainAttr domain);

/// A forward data-flow analysis. A body is straight-line code, so one walk reaches the fixed point.
class ScopeAnalysis {
public:
  explicit ScopeAnalysis(fuse::OpOp op);

  /// The scope of `value`, which belongs to the op's body.
  fuse::ScopeAttr of(mlir::Value value) const { return facts.lookup(value).scope; }

  /// Whether `op` computes in element precision: it reads an operand, or something that went
  /// through `fuse.uniform`. The other ops are constants and the scalar program.
  bool isElementSide(mlir::Operation *op) const;

private:
  struct Fact {
    fuse::ScopeAttr scope;
    bool elementSide = false;
  };
  Fact transfer(fuse::OpOp op, mlir::Operation *inner) const;

  llvm::DenseMap<mlir::Value, Fact> facts; // looked up only
};

} // namespace fw::passes
