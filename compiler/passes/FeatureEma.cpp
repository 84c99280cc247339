#include "compiler/passes/FeatureSupport.h"
#include "compiler/passes/Passes.h"

namespace fw::passes {
#define GEN_PASS_DEF_FEATUREEMA
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

class FeatureEmaPass : public impl::FeatureEmaBase<FeatureEmaPass> {
public:
  using FeatureEmaBase::FeatureEmaBase;

  void runOnOperation() override {
    OpOp op = getOperation();
    const Feature &feature = *findFeature("ema");
    if (failed(addRow(op, feature, dtypes.getValue())))
      return signalPassFailure();
    for (const std::string &param : namesOfRole(op, feature))
      average(op, param, addedName(feature, param));
  }

private:
  /// average = decay*average + (1 - decay)*parameter
  static void average(OpOp op, StringRef param, const std::string &name) {
    writeCopy(op, param, name); // the parameter's new value, whoever writes it
    WriteOp write = writeOf(op, name);
    OpBuilder builder(write);
    Location loc = op.getLoc();
    Value decay = scalarOf(builder, op, findFeature("ema")->scalar);
    Value rest = arith::SubFOp::create(builder, loc, real(builder, 1, builder.getF64Type()), decay);
    Value old = ReadOp::create(builder, loc, write.getValue().getType(), name);
    Value kept = arith::MulFOp::create(builder, loc, toElement(builder, op, decay), old);
    Value added =
        arith::MulFOp::create(builder, loc, toElement(builder, op, rest), write.getValue());
    write.getValueMutable().assign(arith::AddFOp::create(builder, loc, kept, added));
  }
};

} // namespace
} // namespace fw::passes
