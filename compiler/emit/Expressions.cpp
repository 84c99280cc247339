#include "compiler/emit/Expressions.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

// What a person still reads at a glance.
static constexpr int kMostDepth = 4;
static constexpr size_t kMostLength = 80;

/// Whether an operation may be in the hardware's form, which there is of f32.
static bool isApproximate(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && op->getResult(0).getType().isF32() &&
         arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::afn);
}

std::string spellingKey(Operation *op) {
  std::string key = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return key + " " + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return key + " " + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      op->getResult(0).getType().isInteger(64))
    return key + " int";
  if (isApproximate(op))
    return key + " afn";
  return key;
}

Result<Text> Expressions::spell(Operation *op) const {
  std::string key = spellingKey(op);
  const Spelling *row = findSpelling(key);
  std::string_view pattern = !row ? "" : column == Column::Cuda ? row->text : row->plain;
  if (pattern.empty())
    return Error{.code = Code::INTERNAL,
                 .text = "expected an operation with a text in spelling.def, got '" + key + "'",
                 .remedy = "add a row"};
  llvm::SmallVector<Text> operands;
  for (Value operand : op->getOperands())
    operands.push_back(of(operand));
  return fill(pattern, row->level, operands);
}

bool isToStorage(CastOp cast) {
  auto kernel = cast->getParentOfType<KernelOp>();
  return kernel && cast.getType() != kernel.getReal() &&
         llvm::all_of(cast->getUsers(), [](Operation *user) { return isa<StoreOp, CastOp>(user); });
}

unsigned countReaders(Operation *op) {
  unsigned count = 0;
  for (Operation *user : op->getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    count += cast && isToStorage(cast) ? countReaders(cast) : 1;
  }
  return count;
}

bool wantsLine(Operation *op, const Text &text) {
  if (text.level == Level::Name)
    return false;
  return op->hasAttr(kName) || countReaders(op) != 1 || text.depth > kMostDepth ||
         text.text.size() > kMostLength;
}

} // namespace fw::emit
