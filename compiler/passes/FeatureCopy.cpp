#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATURECOPY
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureCopyPass : public impl::FeatureCopyBase<FeatureCopyPass> {
public:
  using FeatureCopyBase::FeatureCopyBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("copy");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    for (const std::string &param : namesOfRole(op, feature)) {
      writeCopy(op, param, addedName(feature, param));
      ++numCopies;
    }
  }
};

} // namespace
} // namespace fw::passes
