#include "compiler/emit/BodyPrinter.h"

#include "compiler/dialect/Dtypes.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

std::string typeText(Type type) {
  return type.isF64() ? "double" : type.isF32() ? "float" : type.isInteger(64) ? "fw::i64" : "bool";
}

std::string memberName(StringRef name) { return identifier("v_", name); }

/// The dtype that a cast to storage makes; its overflow mode is part of the name.
static std::string castText(CastOp cast) {
  return std::string(dtypeOf(cast.getType(), cast.getSaturate()).cuda);
}

/// What a load or a read at a place gives; null for other operations.
static Operation *loadOf(Value value) {
  Operation *source = value.getDefiningOp();
  return isa<LoadOp, GatherOp, LoadPairOp>(source) ? source : nullptr;
}

BodyPrinter::BodyPrinter(Type real, DictionaryAttr equations, Expressions outer, BodyPlace given)
    : real(real), equations(equations), place(std::move(given)), expressions(std::move(outer)) {
  Operation *op = place.known ? place.known.getDefiningOp() : nullptr;
  if (op)
    skipped.insert(op);
  for (op = op ? op->getPrevNode() : nullptr; op; op = op->getPrevNode())
    if (!op->use_empty() &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return skipped.contains(user); }))
      skipped.insert(op);
}

static Text constantText(arith::ConstantOp constant) {
  if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
    return literal(value.getValue());
  llvm::APInt value = cast<IntegerAttr>(constant.getValue()).getValue();
  if (value.getBitWidth() == 1)
    return {value.getBoolValue() ? "true" : "false"};
  return wholeNumber(value.getSExtValue());
}

Result<void> BodyPrinter::print(Operation *op) {
  if (skipped.contains(op))
    return {};
  if (auto yield = dyn_cast<YieldOp>(op))
    visitYield(yield);
  else if (auto load = dyn_cast<LoadOp>(op))
    visitLoaded(op, load.getOperand(), place.load(load));
  else if (auto gather = dyn_cast<GatherOp>(op))
    visitLoaded(op, gather.getOperand(),
                place.gather(gather.getOperand(), textOf(gather.getPlace()).text));
  else if (auto index = dyn_cast<IndexOp>(op))
    define(op, {place.index(index), Level::Call});
  else if (auto bits = dyn_cast<BitsOp>(op))
    define(op, {"static_cast<fw::i64>(" + drawName(bits) + "[k])", Level::Call});
  else if (auto pair = dyn_cast<PairIndexOp>(op))
    define(op, {partnerText(pair.getCount(), pair.getInterleaved()), Level::Call});
  else if (auto pair = dyn_cast<LoadPairOp>(op))
    visitLoaded(
        op, pair.getOperand(),
        place.gather(pair.getOperand(), partnerText(pair.getCount(), pair.getInterleaved())));
  else if (auto cast = dyn_cast<CastOp>(op))
    visitCast(cast);
  else if (auto store = dyn_cast<StoreOp>(op))
    visitStore(store);
  else if (auto constant = dyn_cast<arith::ConstantOp>(op))
    expressions.set(constant, constantText(constant));
  else if (auto convert = dyn_cast<arith::SIToFPOp>(op))
    define(op, {"static_cast<" + typeText(convert.getType()) + ">(" + textOf(convert.getIn()).text +
                    ")",
                Level::Call});
  else {
    Result<Text> text = expressions.spell(op);
    if (!text)
      return text.takeError();
    define(op, *text);
  }
  return {};
}

std::string BodyPrinter::partnerText(Value count, bool isInterleaved) const {
  return "fw::partnerOf(" + place.column + ", " + textOf(count).text + ", " +
         (isInterleaved ? "true" : "false") + ", place.columns)";
}

std::string drawName(BitsOp bits) { return "draw" + std::to_string(bits.getDraw()); }

/// A load of another format has no line: the conversion that follows it has one.
void BodyPrinter::visitLoaded(Operation *load, StringRef operand, std::string text) {
  Text loaded{std::move(text), Level::Call};
  Type type = load->getResult(0).getType();
  if (type == real || isa<IntegerType>(type))
    loaded = addLine(load, names.unique(identifier("in_", operand)), loaded);
  expressions.set(load->getResult(0), loaded);
}

void BodyPrinter::visitCast(CastOp cast) {
  const Text &source = textOf(cast.getValue());
  if (isToStorage(cast)) // has no text of its own: what reads it rounds
    return expressions.set(cast, source);
  if (auto rounding = cast.getValue().getDefiningOp<CastOp>(); rounding && isToStorage(rounding)) {
    Text operands[] = {source};
    return define(cast,
                  fill("fw::roundTo<" + castText(rounding) + ">({0})", Level::Call, operands));
  }
  Operation *load = loadOf(cast.getValue());
  if (!load)
    return define(
        cast, {"static_cast<" + typeText(cast.getType()) + ">(" + source.text + ")", Level::Call});
  StringRef operand = load->getAttrOfType<StringAttr>("operand").getValue();
  // Codecs give double for f64 and float for every other dtype.
  bool converts = cast.getValue().getType().isF64() != cast.getType().isF64();
  Text text = converts ? Text{"static_cast<" + typeText(cast.getType()) + ">(" + source.text + ")",
                              Level::Call}
                       : source;
  expressions.set(cast, addLine(cast, names.unique(identifier("in_", operand)), text));
}

/// The operand's codec rounds once, so a conversion before it is not printed.
void BodyPrinter::visitStore(StoreOp store) {
  addLabel(store);
  out += place.indent + place.store(store, textOf(store.getValue()).text) + "\n";
}

void BodyPrinter::visitYield(YieldOp yield) {
  for (auto [k, value] : llvm::enumerate(yield.getValues()))
    out += place.indent + "fw::accumulate<" + std::to_string(k) + ">(" + place.accumulators + ", " +
           textOf(value).text + ");\n";
}

void BodyPrinter::define(Operation *op, const Text &text) {
  bool line = wantsLine(op, text);
  expressions.set(op->getResult(0), line ? addLine(op, nameOf(op), text) : text);
}

std::string BodyPrinter::nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kName);
  return name ? names.unique(memberName(name.getValue())) : names.next("t");
}

Text BodyPrinter::addLine(Operation *op, const std::string &name, const Text &text) {
  addLabel(op);
  out += place.indent + "const " + typeText(op->getResult(0).getType()) + " " + name + " = " +
         text.text + ";\n";
  return {name};
}

/// The equation, above the first of the lines that compute it.
void BodyPrinter::addLabel(Operation *op) {
  auto label = op->getAttrOfType<StringAttr>(kLabel);
  if (!label || label == lastLabel)
    return;
  lastLabel = label;
  auto equation = equations ? equations.getAs<StringAttr>(label.getValue()) : StringAttr();
  out += place.indent + "// " + commentText(label.getValue()) +
         (equation ? ": " + commentText(equation.getValue()) : "") + "\n";
}

Expressions slotTexts(KernelOp kernel) {
  Expressions texts{Expressions::Column::Cuda};
  for (auto slot : kernel.getBody().getOps<SlotOp>())
    texts.set(slot, {"u." + memberName(slot.getSlot())});
  for (auto constant : kernel.getBody().getOps<arith::ConstantOp>())
    texts.set(constant, constantText(constant));
  return texts;
}

Result<std::string> printBody(EachOp each, DictionaryAttr equations, Expressions outer,
                              BodyPlace place) {
  BodyPrinter printer(each->getParentOfType<KernelOp>().getReal(), equations, std::move(outer),
                      std::move(place));
  for (Operation &op : each.getBody().front())
    if (auto printed = printer.print(&op); !printed)
      return printed.takeError();
  return printer.take();
}

} // namespace fw::emit
