#include "compiler/passes/Passes.h"
#include "compiler/passes/RowForming.h"
#include "compiler/passes/Scopes.h"

#include "mlir/IR/Builders.h"

namespace fw::passes {
#define GEN_PASS_DEF_ROWRECIPROCALS
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class RowReciprocalsPass : public impl::RowReciprocalsBase<RowReciprocalsPass> {
public:
  void runOnOperation() override {
    OpOp op = getOperation();
    if (!op.getDomain().hasAxes())
      return markAllAnalysesPreserved();
    const auto &scopes = getAnalysis<ScopeAnalysis>();
    SmallVector<arith::DivFOp> found;
    for (auto quotient : op.getBody().getOps<arith::DivFOp>())
      if (quotient.getType().isF32() && varies(op, scopes.of(quotient.getLhs())) &&
          isOfRow(op, scopes.of(quotient.getRhs())))
        found.push_back(quotient);
    for (arith::DivFOp quotient : found)
      replace(quotient);
  }

private:
  static bool varies(OpOp op, ScopeAttr scope) {
    return scope.isElement() ||
           (scope.getAxes() && llvm::is_contained(scope.getAxes(), spannedAxis(op)));
  }
  /// Known once a row; a constant's quotient stays as it is written.
  static bool isOfRow(OpOp op, ScopeAttr scope) {
    return scope.getLevel() != ScopeLevel::Const && !varies(op, scope);
  }

  void replace(arith::DivFOp quotient) {
    OpBuilder builder(quotient);
    const Location location = quotient.getLoc();
    Value one =
        arith::ConstantOp::create(builder, location, builder.getFloatAttr(quotient.getType(), 1.0));
    auto reciprocal = arith::DivFOp::create(builder, location, one, quotient.getRhs());
    auto product =
        arith::MulFOp::create(builder, location, quotient.getLhs(), reciprocal.getResult());
    if (auto label = quotient->getAttr(kLabel))
      reciprocal->setAttr(kLabel, label);
    product->setAttrs(quotient->getAttrs());
    quotient.replaceAllUsesWith(product.getResult());
    quotient.erase();
    ++numReplaced;
  }
};

} // namespace
} // namespace fw::passes
