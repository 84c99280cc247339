#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fw::fuse;

#include "compiler/dialect/FuseDialect.cpp.inc"

void FuseDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/FuseOps.cpp.inc"
      >();
}

LogicalResult FuseDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kLabel || name == kName || name == kPair) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "expected a string as '" << name << "', got " << attribute.getValue();
  }
  if (name == kScope) {
    if (isa<ScopeAttr>(attribute.getValue()))
      return success();
    return op->emitError() << "expected a #fuse.scope as '" << name << "', got "
                           << attribute.getValue();
  }
  return op->emitError() << "expected 'fuse.label', 'fuse.name', 'fuse.pair' or 'fuse.scope', got '"
                         << name << "'";
}

OperandAttr fw::fuse::findOperand(ArrayAttr operands, StringRef name) {
  for (auto operand : operands.getAsRange<OperandAttr>())
    if (operand.getName() == name)
      return operand;
  return {};
}

unsigned fw::fuse::operandIndex(ArrayAttr operands, StringRef name) {
  for (auto [index, operand] : llvm::enumerate(operands.getAsRange<OperandAttr>()))
    if (operand.getName() == name)
      return index;
  llvm_unreachable("no such operand: the verifier checks every name");
}

SmallVector<OperandAttr> fw::fuse::columnsOf(KernelOp kernel) {
  llvm::StringSet<> touched;
  kernel.getBody().walk([&](Operation *op) {
    if (isa<LoadOp, LoadPairOp, StoreOp, GatherOp>(op))
      touched.insert(op->getAttrOfType<StringAttr>("operand"));
  });
  SmallVector<OperandAttr> columns;
  for (auto operand : kernel->getParentOfType<ProgramOp>().getOperands().getAsRange<OperandAttr>())
    if (touched.contains(operand.getName()))
      columns.push_back(operand);
  return columns;
}

unsigned fw::fuse::columnIndex(KernelOp kernel, StringRef name) {
  for (auto [index, operand] : llvm::enumerate(columnsOf(kernel)))
    if (operand.getName() == name)
      return index;
  llvm_unreachable("only for operands that the kernel loads or stores");
}

Type fw::fuse::storageType(MLIRContext *context, StringRef dtype) {
  const fw::Dtype *row = fw::findDtype({dtype.data(), dtype.size()});
  if (const fw::IntDtype *whole = fw::findIntDtype({dtype.data(), dtype.size()}))
    return IntegerType::get(context, whole->isBool ? 1 : 64);
  if (!row)
    return {};
  return parseType(StringRef(row->type.data(), row->type.size()), context);
}

const fw::Dtype &fw::fuse::dtypeOf(Type type, bool saturate) {
  for (const fw::Dtype &row : fw::allDtypes())
    if (row.saturate == saturate &&
        storageType(type.getContext(), {row.name.data(), row.name.size()}) == type)
      return row;
  llvm_unreachable("the verifiers let no other type through");
}
