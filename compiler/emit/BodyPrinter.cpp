#include "compiler/emit/BodyPrinter.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/emit/Expressions.h"
#include "compiler/emit/Words.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

std::string typeText(Type type) {
  return type.isF64() ? "double" : type.isF32() ? "float" : "bool";
}

std::string storageText(StringRef dtype) {
  return std::string(findDtype({dtype.data(), dtype.size()})->cuda);
}

std::string memberName(StringRef name) { return identifier("v_", name); }

namespace {

/// The dtype that a cast to storage makes; its overflow mode is part of the name.
std::string castText(CastOp cast) {
  return std::string(dtypeOf(cast.getType(), cast.getSaturate()).cuda);
}

class BodyPrinter {
public:
  BodyPrinter(EachOp each, DictionaryAttr equations, const std::string &indent)
      : each(each), real(each->getParentOfType<KernelOp>().getReal()), equations(equations),
        indent(indent) {}

  Result<std::string> print() {
    for (auto slot : each->getParentOfType<KernelOp>().getBody().getOps<SlotOp>())
      expressions.set(slot, {"u." + memberName(slot.getSlot())});
    for (Operation &op : each.getBody().front())
      if (auto printed = visit(&op); !printed)
        return printed.takeError();
    return std::move(out);
  }

private:
  Result<void> visit(Operation *op) {
    if (auto yield = dyn_cast<YieldOp>(op)) {
      visitYield(yield);
      return {};
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      visitLoad(load);
      return {};
    }
    if (auto cast = dyn_cast<CastOp>(op)) {
      visitCast(cast);
      return {};
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      visitStore(store);
      return {};
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      visitConstant(constant);
      return {};
    }
    Result<Text> text = expressions.spell(op);
    if (!text)
      return text.takeError();
    define(op, *text);
    return {};
  }

  /// A load of another format has no line: the conversion that follows it has one.
  void visitLoad(LoadOp load) {
    Text text{"fw::get(in." + memberName(load.getOperand()) + ", k)", Level::Call};
    if (load.getType() == real)
      text = addLine(load, names.unique(identifier("in_", load.getOperand())), text);
    expressions.set(load, text);
  }

  void visitCast(CastOp cast) {
    const Text &source = expressions.of(cast.getValue());
    if (isToStorage(cast)) // has no text of its own: what reads it rounds
      return expressions.set(cast, source);
    if (auto rounding = cast.getValue().getDefiningOp<CastOp>()) {
      Text operands[] = {source};
      return define(cast,
                    fill("fw::roundTo<" + castText(rounding) + ">({0})", Level::Call, operands));
    }
    auto load = cast.getValue().getDefiningOp<LoadOp>();
    // fw::get gives double for f64 and float for every other dtype.
    bool converts = load.getType().isF64() != real.isF64();
    Text text = converts
                    ? Text{"static_cast<" + typeText(real) + ">(" + source.text + ")", Level::Call}
                    : source;
    expressions.set(cast, addLine(cast, names.unique(identifier("in_", load.getOperand())), text));
  }

  /// fw::set rounds once to the operand's dtype, so a conversion before it is not printed.
  void visitStore(StoreOp store) {
    addLabel(store);
    out += indent + "fw::set(out." + memberName(store.getOperand()) + ", k, " +
           expressions.of(store.getValue()).text + ");\n";
  }

  void visitYield(YieldOp yield) {
    for (auto [k, value] : llvm::enumerate(yield.getValues()))
      out += indent + "fw::accumulate<" + std::to_string(k) + ">(acc, " +
             expressions.of(value).text + ");\n";
  }

  void visitConstant(arith::ConstantOp constant) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
      return expressions.set(constant, literal(value.getValue()));
    bool isTrue = cast<IntegerAttr>(constant.getValue()).getValue().getBoolValue();
    expressions.set(constant, {isTrue ? "true" : "false"});
  }

  void define(Operation *op, const Text &text) {
    bool line = wantsLine(op, text);
    expressions.set(op->getResult(0), line ? addLine(op, nameOf(op), text) : text);
  }

  std::string nameOf(Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(kName);
    return name ? names.unique(memberName(name.getValue())) : names.next("t");
  }

  Text addLine(Operation *op, const std::string &name, const Text &text) {
    addLabel(op);
    out += indent + "const " + typeText(op->getResult(0).getType()) + " " + name + " = " +
           text.text + ";\n";
    return {name};
  }

  /// The equation, above the first of the lines that compute it.
  void addLabel(Operation *op) {
    auto label = op->getAttrOfType<StringAttr>(kLabel);
    if (!label || label == lastLabel)
      return;
    lastLabel = label;
    auto equation = equations ? equations.getAs<StringAttr>(label.getValue()) : StringAttr();
    out += indent + "// " + commentText(label.getValue()) +
           (equation ? ": " + commentText(equation.getValue()) : "") + "\n";
  }

  EachOp each;
  Type real;
  DictionaryAttr equations;
  std::string indent;
  Expressions expressions{Expressions::Column::Cuda};
  Names names;
  StringAttr lastLabel;
  std::string out;
};

} // namespace

Result<std::string> printBody(EachOp each, DictionaryAttr equations, const std::string &indent) {
  return BodyPrinter(each, equations, indent).print();
}

} // namespace fw::emit
