#include "compiler/emit/ScalarComments.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/emit/Expressions.h"
#include "compiler/emit/Words.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

Text plainConstant(arith::ConstantOp constant) {
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return plainNumber(real.getValueAsDouble());
  auto integer = cast<IntegerAttr>(constant.getValue());
  if (integer.getType().isInteger(1))
    return {integer.getValue().isZero() ? "false" : "true"};
  return {std::to_string(integer.getInt())};
}

std::string labelOf(Operation *op) {
  auto label = op->getAttrOfType<StringAttr>(kLabel);
  return label ? "   " + commentText(label.getValue()) : "";
}

class ScalarCommentsPrinter {
public:
  Result<std::string> print(ScalarsOp scalars) {
    for (Operation &op : scalars.getBody().front())
      if (auto printed = visit(&op); !printed)
        return printed.takeError();
    return std::move(out);
  }

private:
  Result<void> visit(Operation *op) {
    if (auto result = dyn_cast<ResultOp>(op)) {
      addSlot(result);
      return {};
    }
    if (auto write = dyn_cast<WriteOp>(op)) {
      out += "//     " + commentText(write.getOperand()) +
             " := " + expressions.of(write.getValue()).text +
             labelOf(write.getValue().getDefiningOp()) + "\n";
      return {};
    }
    if (auto skip = dyn_cast<SkipIfOp>(op)) {
      out += "//     nothing is changed if " + expressions.of(skip.getCondition()).text + "\n";
      return {};
    }
    if (std::string input = inputText(op); !input.empty()) {
      expressions.set(op->getResult(0), {input});
      return {};
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      expressions.set(constant, plainConstant(constant));
      return {};
    }
    auto cast = dyn_cast<CastOp>(op);
    Result<Text> text = cast ? castText(cast) : expressions.spell(op);
    if (!text)
      return text.takeError();
    Value value = op->getResult(0);
    expressions.set(value, *text);
    bool isSlotOnly = op->hasOneUse() && isa<ResultOp>(*op->user_begin());
    if (!isSlotOnly && wantsLine(op, *text))
      addValue(op, *text);
    return {};
  }

  /// A scalar, or what a kernel or a tensor gives; empty for an operation on such.
  static std::string inputText(Operation *op) {
    if (auto scalar = dyn_cast<ScalarOp>(op))
      return commentText(scalar.getScalar());
    if (auto reduced = dyn_cast<ReducedOp>(op))
      return commentText(reduced.getName());
    if (auto read = dyn_cast<ReadOp>(op))
      return commentText(read.getOperand());
    if (auto size = dyn_cast<SizeOp>(op))
      return "size(" + stringifyScopeLevel(size.getOf().getLevel()).str() + ")";
    return isa<IndexOp>(op) ? "index(tensor)" : "";
  }

  /// A rounding is the cast to the dtype; the cast back changes nothing.
  Text castText(CastOp cast) {
    const Text &value = expressions.of(cast.getValue());
    if (cast.getType().isF64())
      return value;
    std::string dtype(dtypeOf(cast.getType(), cast.getSaturate()).name);
    return fill("round_to(" + dtype + ", {0})", Level::Call, {&value, 1});
  }

  /// A value that other lines read, without a number.
  void addValue(Operation *op, const Text &text) {
    auto given = op->getAttrOfType<StringAttr>(kName);
    std::string name = given ? names.unique(commentText(given.getValue())) : names.next("s");
    out += "//     " + name + " = " + text.text + labelOf(op) + "\n";
    expressions.set(op->getResult(0), {name});
  }

  void addSlot(ResultOp result) {
    const Text &text = expressions.of(result.getValue());
    std::string slot = commentText(result.getSlot());
    std::string number = "[" + std::to_string(slots++) + "] ";
    out += "// " + number + slot + (text.text == slot ? "" : " = " + text.text) +
           labelOf(result.getValue().getDefiningOp()) + "\n";
  }

  Expressions expressions{Expressions::Column::Plain};
  Names names;
  std::string out;
  unsigned slots = 0;
};

} // namespace

Result<std::string> scalarComments(ScalarsOp scalars) {
  return ScalarCommentsPrinter().print(scalars);
}

} // namespace fw::emit
