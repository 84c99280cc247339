#include "compiler/passes/Passes.h"
#include "compiler/passes/Scopes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "fma"

namespace fw::passes {
#define GEN_PASS_DEF_FMA
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

arith::MulFOp productOf(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (product && !product->hasOneUse()) {
    LLVM_DEBUG(llvm::dbgs() << "keep a product: it has more than one use\n");
    return {};
  }
  return product;
}

class FmaPass : public impl::FmaBase<FmaPass> {
public:
  void runOnOperation() override {
    const auto &scopes = getAnalysis<ScopeAnalysis>();
    for (Operation &inner : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (!isa<arith::AddFOp, arith::SubFOp>(inner))
        continue;
      if (!scopes.isElementSide(&inner)) {
        LLVM_DEBUG(llvm::dbgs() << "keep a sum: it belongs to the scalar program\n");
        continue;
      }
      contract(&inner);
    }
  }

private:
  void contract(Operation *sum) {
    Value left = sum->getOperand(0), right = sum->getOperand(1);
    bool subtracts = isa<arith::SubFOp>(sum);
    if (auto product = productOf(left)) // a*b + c, a*b - c
      replace(sum, product, false, right, subtracts);
    else if (auto product = productOf(right)) // c + a*b, c - a*b
      replace(sum, product, subtracts, left, false);
  }

  void replace(Operation *sum, arith::MulFOp product, bool negateProduct, Value addend,
               bool negateAddend) {
    OpBuilder builder(sum);
    Location loc = builder.getFusedLoc({product.getLoc(), sum->getLoc()});
    auto negated = [&](Value value, bool negate) {
      if (!negate)
        return value;
      Value result = arith::NegFOp::create(builder, loc, value);
      if (Attribute label = sum->getAttr(kLabel))
        result.getDefiningOp()->setAttr(kLabel, label);
      return result;
    };
    Value a = negated(product.getLhs(), negateProduct), c = negated(addend, negateAddend);
    auto fma = math::FmaOp::create(builder, loc, a, product.getRhs(), c);
    fma->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
    sum->getResult(0).replaceAllUsesWith(fma);
    sum->erase();
    product.erase();
    ++numContracted;
  }
};

} // namespace
} // namespace fw::passes
