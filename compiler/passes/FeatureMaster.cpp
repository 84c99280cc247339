#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATUREMASTER
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureMasterPass : public impl::FeatureMasterBase<FeatureMasterPass> {
public:
  using FeatureMasterBase::FeatureMasterBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("master");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    for (const std::string &param : namesOfRole(op, feature)) {
      const std::string master = addedName(feature, param);
      for (auto read : op.getBody().getOps<ReadOp>())
        if (read.getOperand() == param)
          read.setOperand(master);
      if (writeOf(op, param))
        writeCopy(op, param, master);
      else
        writeCopy(op, master, param); // the model follows a parameter that the op leaves alone
    }
  }
};

} // namespace
} // namespace fw::passes
