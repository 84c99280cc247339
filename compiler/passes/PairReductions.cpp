#include "compiler/dialect/Pairs.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_PAIRREDUCTIONS
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class PairReductionsPass : public impl::PairReductionsBase<PairReductionsPass> {
public:
  void runOnOperation() override {
    for (auto second : getOperation().getBody().getOps<ReduceOp>())
      if (std::optional<Pair> found = pairOf(second))
        pair(found->first, second, nameOf(found->kind));
  }

private:
  /// A reduction is of one pair at most: the first that asks for it.
  void pair(ReduceOp first, ReduceOp second, StringRef name) {
    if (first->hasAttr(kPair) || second->hasAttr(kPair))
      return;
    auto attribute = StringAttr::get(&getContext(), name);
    first->setAttr(kPair, attribute);
    second->setAttr(kPair, attribute);
    ++numPairs;
  }
};

} // namespace
} // namespace fw::passes
