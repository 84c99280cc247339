#include "compiler/passes/Passes.h"
#include "compiler/passes/Scopes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "infer-scopes"

namespace fw::passes {
#define GEN_PASS_DEF_INFERSCOPES
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class InferScopesPass : public impl::InferScopesBase<InferScopesPass> {
public:
  void runOnOperation() override {
    OpOp op = getOperation();
    const auto &scopes = getAnalysis<ScopeAnalysis>();
    for (Operation &inner : op.getBody().front()) {
      if (failed(check(op, &inner, scopes)))
        return signalPassFailure();
      if (inner.getNumResults() == 0)
        continue;
      ScopeAttr scope = scopes.of(inner.getResult(0));
      inner.setAttr(kScope, scope);
      ++(scopes.isElementSide(&inner) ? numElement : numUniform);
    }
    markAnalysesPreserved<ScopeAnalysis>();
  }

private:
  LogicalResult check(OpOp op, Operation *inner, const ScopeAnalysis &scopes) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(inner)
        .Case([&](UniformOp uniform) { return checkUniform(uniform, scopes); })
        .Case([&](ReduceOp reduce) { return checkReduce(op, reduce, scopes); })
        .Case([&](WriteOp write) { return checkWrite(op, write, scopes); })
        .Case([&](SkipIfOp skip) { return checkScalar(skip, skip.getCondition(), scopes); })
        .Default([&](Operation *) { return checkMixed(inner, scopes); });
  }

  LogicalResult checkUniform(UniformOp uniform, const ScopeAnalysis &scopes) {
    ScopeAttr scope = scopes.of(uniform.getValue());
    Operation *source = uniform.getValue().getDefiningOp();
    if (scope.isUniform() && !scopes.isElementSide(source))
      return success();
    return uniform.emitOpError() << "expected a value of the scalar program, got one of scope "
                                 << stringifyScopeLevel(scope.getLevel())
                                 << " in element precision; use it as it is";
  }

  LogicalResult checkReduce(OpOp op, ReduceOp reduce, const ScopeAnalysis &scopes) {
    ScopeAttr inside = scopes.of(reduce.getValue()), keep = reduce.getKeep();
    ScopeAttr both = joinScopes(keep, inside, op.getDomain());
    if (both != keep && (both == inside || keep.getLevel() == ScopeLevel::Axes))
      return success();
    return reduce.emitOpError() << "expected a value that varies within the scope kept, "
                                << stringifyScopeLevel(keep.getLevel()) << ", got scope "
                                << stringifyScopeLevel(inside.getLevel())
                                << "; keep a scope further out";
  }

  LogicalResult checkWrite(OpOp op, WriteOp write, const ScopeAnalysis &scopes) {
    ScopeAttr scope = scopes.of(write.getValue());
    ScopeAttr place = findOperand(op.getOperands(), write.getOperand()).getScope();
    if (joinScopes(scope, place, op.getDomain()) == place)
      return place.isUniform() ? checkScalar(write, write.getValue(), scopes)
                               : checkMixed(write, scopes);
    return write.emitOpError() << "expected a value of scope "
                               << stringifyScopeLevel(place.getLevel())
                               << " or further out for operand '" << write.getOperand()
                               << "', got scope " << stringifyScopeLevel(scope.getLevel())
                               << "; reduce it first";
  }

  LogicalResult checkScalar(Operation *user, Value value, const ScopeAnalysis &scopes) {
    Operation *source = value.getDefiningOp();
    if (scopes.of(value).isUniform() && !scopes.isElementSide(source))
      return success();
    return user->emitOpError() << "expected a value of the scalar program, got one of scope "
                               << stringifyScopeLevel(scopes.of(value).getLevel())
                               << " in element precision";
  }

  /// A value of the scalar program may meet elements only through fuse.uniform, where it is
  /// rounded.
  LogicalResult checkMixed(Operation *inner, const ScopeAnalysis &scopes) {
    if (!scopes.isElementSide(inner))
      return success();
    for (Value operand : inner->getOperands()) {
      Operation *source = operand.getDefiningOp();
      bool isConstant = scopes.of(operand).getLevel() == ScopeLevel::Const;
      if (isConstant || scopes.isElementSide(source))
        continue;
      InFlightDiagnostic diagnostic = inner->emitOpError()
                                      << "expected values of the scalar program through "
                                         "'fuse.uniform', got one directly; insert it";
      diagnostic.attachNote(source->getLoc()) << "the value";
      return diagnostic;
    }
    return success();
  }
};

} // namespace
} // namespace fw::passes
