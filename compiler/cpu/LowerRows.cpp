#include "compiler/cpu/Codec.h"
#include "compiler/cpu/KernelLowering.h"
#include "compiler/cpu/Wholes.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace fw::cpu {

// --- Once a row ----------------------------------------------------------------------------------

/// Arithmetic on single numbers; in a kernel over rows also what the row has one of.
FailureOr<Value> KernelLowering::lowerOnRow(Operation &op) {
  Lanes scalar(builder, location, 1);
  if (auto read = dyn_cast<fuse::LoadOp>(op)) {
    loadBase(read.getOperandAttr());
    return load(scalar, read.getOperand(), read.getType(), constant(0), 0);
  }
  if (auto index = dyn_cast<fuse::IndexOp>(op))
    return readIndex(index);
  if (auto read = dyn_cast<fuse::GatherOp>(op))
    return gather(read);
  DenseMap<Value, Value> values;
  for (Value operand : op.getOperands())
    values[operand] = uniforms.lookup(operand);
  if (failed(buildOp(op, scalar, values)))
    return failure();
  return values.lookup(op.getResult(0));
}

LogicalResult KernelLowering::lowerStore(fuse::StoreOp op) {
  loadBase(op.getOperandAttr());
  store(Lanes(builder, location, 1), op.getOperand(), uniforms.lookup(op.getValue()), constant(0),
        0, op.getValue().getType());
  return success();
}

/// Where a row stands on the axes in front of it is handed in as ints in place of results.
Value KernelLowering::readIndex(fuse::IndexOp index) {
  auto axes = kernel->getParentOfType<fuse::ProgramOp>().getDomain()->axes();
  const int64_t number = llvm::find(axes, index.getAxisAttr()) - axes.begin();
  Type i64 = builder.getI64Type();
  return LLVM::LoadOp::create(builder, location, i64, offset(i64, results(), constant(number)));
}

/// What a storage type has for "no number": the words that every conversion makes of NaN.
static Value nothing(const Lanes &lanes, Type type, const IntDtype *whole) {
  if (whole)
    return lanes.integer(whole->isBool ? 1 : 64, 0);
  Type word = carrier(type);
  if (isa<FloatType>(word))
    return lanes.number(word, std::numeric_limits<double>::quiet_NaN());
  return lanes.integer(word.getIntOrFloatBitWidth(), word.isInteger(16) ? 0x7fff : 0x7f);
}

Value KernelLowering::gather(fuse::GatherOp op) {
  loadBase(op.getOperandAttr());
  Lanes scalar(builder, location, 1);
  Value place = uniforms.lookup(op.getPlace());
  Value isInside = scalar.compare(arith::CmpIPredicate::ult, place, end());
  Value outside = nothing(scalar, op.getType(), wholeDtype(op.getOperand()));
  auto choice = scf::IfOp::create(builder, location, outside.getType(), isInside,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, location, load(scalar, op.getOperand(), op.getType(), place, 0));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, location, outside);
  return choice.getResult(0);
}

// --- Memory --------------------------------------------------------------------------------------

/// The dtype of an operand of bools or ints; null of reals.
const IntDtype *KernelLowering::wholeDtype(StringRef operand) {
  auto program = kernel->getParentOfType<fuse::ProgramOp>();
  StringRef dtype = fuse::findOperand(program.getOperands(), operand).getDtype();
  return findIntDtype({dtype.data(), dtype.size()});
}

Value KernelLowering::load(const Lanes &lanes, StringRef operand, Type type, Value index,
                           int64_t shift) {
  const IntDtype *whole = wholeDtype(operand);
  Type element = whole ? wordOf(lanes, *whole) : carrier(type);
  Value from = address(operand, element, index, shift);
  Value word =
      lanes.make<LLVM::LoadOp>(lanes.type(element), from, element.getIntOrFloatBitWidth() / 8);
  return whole ? fromWord(lanes, *whole, word) : word;
}

void KernelLowering::store(const Lanes &lanes, StringRef operand, Value value, Value index,
                           int64_t shift, Type type) {
  const IntDtype *whole = wholeDtype(operand);
  Type element = whole ? wordOf(lanes, *whole) : carrier(type);
  Value to = address(operand, element, index, shift);
  LLVM::StoreOp::create(builder, location, whole ? toWord(lanes, *whole, value) : value, to,
                        element.getIntOrFloatBitWidth() / 8);
}

/// The numbers of the columns that the lanes stand for.
Value KernelLowering::places(const Lanes &lanes, Value index, int64_t shift) {
  Value first = lanes.splat(index);
  SmallVector<int64_t> steps(size_t(lanes.getWidth()));
  std::iota(steps.begin(), steps.end(), shift);
  if (lanes.getWidth() == 1)
    return lanes.make<arith::AddIOp>(first, constant(shift));
  auto type = cast<VectorType>(lanes.integer(64));
  return lanes.make<arith::AddIOp>(
      first, lanes.make<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef(steps))));
}

void KernelLowering::loadBase(StringAttr name) {
  if (bases.contains(name))
    return;
  Type pointer = pointers().getType();
  Value place = constant(fuse::columnIndex(kernel, name));
  bases[name] =
      LLVM::LoadOp::create(builder, location, pointer, offset(pointer, pointers(), place));
}

Value KernelLowering::address(StringRef operand, Type element, Value index, int64_t shift) {
  Value base = offset(element, bases.lookup(operand), index);
  return shift == 0 ? base : offset(element, base, constant(shift));
}

} // namespace fw::cpu
