#include "compiler/passes/FeatureSupport.h"

#include "compiler/passes/DtypeOptions.h"
#include "compiler/passes/Precision.h"
#include "compiler/passes/Refusal.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

Result<std::vector<AddedOperand>> addedFor(OpOp op, const Feature &feature) {
  std::vector<FeatureOperand> operands;
  for (auto operand : op.getOperands().getAsRange<OperandAttr>())
    operands.push_back({operand.getName().str(), stringifyRole(operand.getRole()).str()});
  return addedOperands(operands, std::vector<std::string>{std::string(feature.name)});
}

void appendOperands(OpOp op, const std::vector<AddedOperand> &added,
                    const DtypeBindings &bindings) {
  Builder builder(op.getContext());
  SmallVector<Attribute> table(op.getOperands().begin(), op.getOperands().end());
  for (const AddedOperand &operand : added) {
    std::string dtype = dtypeOr(bindings, operand.name, operand.dtype);
    auto scope = ScopeAttr::get(op.getContext(), *symbolizeScopeLevel(operand.scope));
    table.push_back(OperandAttr::get(op.getContext(), builder.getStringAttr(operand.name),
                                     *symbolizeRole(operand.role), builder.getStringAttr(dtype),
                                     scope, Kind::Real, FloatAttr(), FloatAttr()));
  }
  op.setOperandsAttr(builder.getArrayAttr(table));
}

void appendScalar(OpOp op, const Feature &feature) {
  if (feature.scalar.empty())
    return;
  Builder builder(op.getContext());
  SmallVector<Attribute> table(op.getScalars().begin(), op.getScalars().end());
  table.push_back(HyperAttr::get(op.getContext(), builder.getStringAttr(feature.scalar), Kind::Real,
                                 builder.getF64FloatAttr(feature.value)));
  op.setScalarsAttr(builder.getArrayAttr(table));
}

} // namespace

LogicalResult addRow(OpOp op, const Feature &feature, StringRef dtypes) {
  Result<DtypeBindings> bindings = parseDtypes(dtypes);
  Result<std::vector<AddedOperand>> added = addedFor(op, feature);
  if (!bindings || !added)
    return refuse(op, bindings ? added.error() : bindings.error());
  for (const auto &[name, dtype] : *bindings)
    if (llvm::none_of(*added, [&](const AddedOperand &row) { return row.name == name; }))
      return refuse(op, {.code = Code::USAGE,
                         .text = "expected an operand of feature '" + std::string(feature.name) +
                                 "' to bind a dtype to, got '" + name + "'",
                         .remedy = added->empty() ? "it adds none"
                                                  : "it adds '" + added->front().name + "'"});
  appendOperands(op, *added, *bindings);
  appendScalar(op, feature);
  return success();
}

Names namesOfRole(OpOp op, const Feature &feature) {
  Names names;
  for (auto operand : op.getOperands().getAsRange<OperandAttr>())
    if (stringifyRole(operand.getRole()) == StringRef(feature.role))
      names.push_back(operand.getName().str());
  return names;
}

OpBuilder atEnd(OpOp op) { return OpBuilder::atBlockEnd(&op.getBody().front()); }

Value scalarOf(OpBuilder &builder, OpOp op, StringRef name) {
  return ScalarOp::create(builder, op.getLoc(), builder.getF64Type(), name);
}

bool hasScalar(OpOp op, StringRef name) {
  return llvm::any_of(op.getScalars().getAsRange<HyperAttr>(),
                      [&](HyperAttr scalar) { return scalar.getName() == name; });
}

Value real(OpBuilder &builder, double value, Type type) {
  return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                   builder.getFloatAttr(type, value));
}

Value toElement(OpBuilder &builder, OpOp op, Value value) {
  FloatType precision = elementPrecision(op.getContext(), op.getOperands());
  return UniformOp::create(builder, op.getLoc(), precision, value);
}

WriteOp writeOf(OpOp op, StringRef name) {
  for (auto write : op.getBody().getOps<WriteOp>())
    if (write.getOperand() == name)
      return write;
  return {};
}

void writeCopy(OpOp op, StringRef operand, StringRef copy) {
  if (WriteOp write = writeOf(op, operand)) {
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(write);
    WriteOp::create(builder, write.getLoc(), copy, write.getValue());
    return;
  }
  OpBuilder builder = atEnd(op);
  FloatType precision = elementPrecision(op.getContext(), op.getOperands());
  Value read = ReadOp::create(builder, op.getLoc(), precision, operand);
  WriteOp::create(builder, op.getLoc(), copy, read);
}

//===-- Gradients
//---------------------------------------------------------------------------------//

/// What the last feature that changed gradient `name` has made of `value`.
static Value changedBy(Value value, StringRef name) {
  for (;;) {
    auto user = llvm::find_if(value.getUsers(), [&](Operation *op) {
      auto given = op->getAttrOfType<StringAttr>(kName);
      return given && given.getValue() == name;
    });
    if (user == value.getUsers().end())
      return value;
    value = (*user)->getResult(0);
  }
}

/// The one read of operand `name`, at the beginning of the body.
static Value readFirst(OpOp op, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockBegin(&op.getBody().front());
  FloatType precision = elementPrecision(op.getContext(), op.getOperands());
  Value first = ReadOp::create(builder, op.getLoc(), precision, name);
  for (ReadOp read : llvm::to_vector(op.getBody().getOps<ReadOp>()))
    if (read.getOperand() == name && read.getResult() != first) {
      read.replaceAllUsesWith(first);
      read.erase();
    }
  return first;
}

Gradients::Gradients(OpOp op, const Names &names) : op(op), names(names) {
  for (const std::string &name : llvm::reverse(names))
    stored.insert(stored.begin(), readFirst(op, name));
  for (size_t k = 0; k < names.size(); ++k)
    current.push_back(changedBy(stored[k], names[k]));
}

OpBuilder Gradients::builder() const {
  Operation *last = current.front().getDefiningOp();
  for (Value value : current)
    if (last->isBeforeInBlock(value.getDefiningOp()))
      last = value.getDefiningOp();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  return builder;
}

void Gradients::change(OpBuilder &builder, llvm::function_ref<Value(Value)> change) {
  for (size_t k = 0; k < current.size(); ++k) {
    Value changed = change(current[k]);
    Operation *made = changed.getDefiningOp();
    made->setAttr(kName, builder.getStringAttr(names[k]));
    // What stands before belongs to features: the norm of what is stored, say.
    current[k].replaceUsesWithIf(
        changed, [&](OpOperand &use) { return made->isBeforeInBlock(use.getOwner()); });
    current[k] = changed;
  }
}

} // namespace fw::passes
