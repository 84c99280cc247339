#include "compiler/passes/DtypeOptions.h"
#include "compiler/passes/FeatureTable.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Precision.h"
#include "compiler/passes/Refusal.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "feature-copy"

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
    Result<DtypeBindings> bindings = parseDtypes(dtypes.getValue());
    Result<std::vector<AddedOperand>> added = addedFor(op);
    if (!bindings || !added) {
      refuse(op, bindings ? added.error() : bindings.error());
      return signalPassFailure();
    }
    for (const auto &[name, dtype] : *bindings)
      if (llvm::none_of(*added, [&](const AddedOperand &row) { return row.name == name; })) {
        refuse(op, {.code = Code::USAGE,
                    .text = "expected a copy of a parameter to bind a dtype to, got '" + name + "'",
                    .remedy = "name it <parameter>.copy"});
        return signalPassFailure();
      }
    appendOperands(op, *added, *bindings);
    for (auto operand : llvm::to_vector(op.getOperands().getAsRange<OperandAttr>()))
      if (stringifyRole(operand.getRole()) == StringRef(feature().role))
        writeCopy(op, operand.getName());
  }

private:
  static const Feature &feature() { return *findFeature("copy"); }

  static Result<std::vector<AddedOperand>> addedFor(OpOp op) {
    std::vector<FeatureOperand> operands;
    for (auto operand : op.getOperands().getAsRange<OperandAttr>())
      operands.push_back({operand.getName().str(), stringifyRole(operand.getRole()).str()});
    return addedOperands(operands, std::vector<std::string>{std::string(feature().name)});
  }

  void appendOperands(OpOp op, const std::vector<AddedOperand> &added,
                      const DtypeBindings &bindings) {
    Builder builder(&getContext());
    SmallVector<Attribute> table(op.getOperands().begin(), op.getOperands().end());
    for (const AddedOperand &operand : added) {
      std::string dtype = dtypeOr(bindings, operand.name, operand.dtype);
      table.push_back(OperandAttr::get(&getContext(), builder.getStringAttr(operand.name),
                                       *symbolizeRole(operand.role), builder.getStringAttr(dtype),
                                       ScopeAttr::get(&getContext(), ScopeLevel::Element),
                                       Kind::Real, FloatAttr(), FloatAttr()));
      ++numCopies;
    }
    op.setOperandsAttr(builder.getArrayAttr(table));
  }

  void writeCopy(OpOp op, StringRef param) {
    std::string name = addedName(feature(), {param.data(), param.size()});
    for (auto write : op.getBody().getOps<WriteOp>())
      if (write.getOperand() == param) {
        OpBuilder builder(&getContext());
        builder.setInsertionPointAfter(write);
        WriteOp::create(builder, write.getLoc(), name, write.getValue());
        return;
      }
    LLVM_DEBUG(llvm::dbgs() << "copy " << param << " as it is: the op never assigns it\n");
    OpBuilder builder = OpBuilder::atBlockEnd(&op.getBody().front());
    FloatType precision = elementPrecision(&getContext(), op.getOperands());
    Value read = ReadOp::create(builder, op.getLoc(), precision, param);
    WriteOp::create(builder, op.getLoc(), name, read);
  }
};

} // namespace
} // namespace fw::passes
