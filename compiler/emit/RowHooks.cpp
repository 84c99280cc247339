#include "compiler/emit/RowHooks.h"

#include "compiler/dialect/Dtypes.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

using Pair = RowExchange::Pair;

static std::string typedPointer(KernelOp kernel, StringRef operand) {
  auto program = kernel->getParentOfType<ProgramOp>();
  return storageText(findOperand(program.getOperands(), operand).getDtype());
}

/// "T>(place.pointers, 3"
static std::string accessText(KernelOp kernel, StringRef operand) {
  return typedPointer(kernel, operand) + ">(place.pointers, " +
         std::to_string(columnIndex(kernel, operand));
}

/// What a read outside of the row gives: no number, 0 or false.
std::string RowHooks::gatherText(StringRef operand, const std::string &place) {
  StringRef dtype = findOperand(parts.program.getOperands(), operand).getDtype();
  const IntDtype *whole = findIntDtype({dtype.data(), dtype.size()});
  const char *nothing = whole && whole->isBool ? "false"
                        : whole                ? "0"
                        : dtype == "f64"       ? "fw::bitCast<double>(0x7fffffffffffffffull)"
                                               : "fw::bitCast<float>(0x7fffffffu)";
  return "fw::valueWithin<" + accessText(kernel, operand) + ", " + place + ", place.columns, " +
         nothing + ")";
}

BodyPlace RowHooks::onRow() {
  return {.indent = "      ",
          .load =
              [this](LoadOp load) {
                return "fw::valueAt<" + accessText(kernel, load.getOperand()) + ")";
              },
          .store = {},
          .gather = [this](StringRef operand,
                           const std::string &place) { return gatherText(operand, place); },
          .index =
              [this](IndexOp index) {
                ArrayAttr kept = parts.domain().getKept();
                const size_t axis = size_t(llvm::find(kept, index.getAxisAttr()) - kept.begin());
                return "static_cast<fw::i64>(place." +
                       (kept.size() == 1 ? "row" : "at[" + std::to_string(axis) + "]") + ")";
              }};
}

/// Of element k of the vector that begins at column i.
static constexpr const char *kColumn = "static_cast<fw::i64>(i + k)";
BodyPlace RowHooks::onElement(const std::string &accumulators) {
  return {.indent = "        ",
          .load =
              [this](LoadOp load) {
                auto program = kernel->getParentOfType<ProgramOp>();
                OperandAttr operand = findOperand(program.getOperands(), load.getOperand());
                const bool isColumn = rowAccess(kernel, operand) == RowAccess::column;
                return std::string(isColumn ? "fw::get(column." : "fw::get(in.") +
                       memberName(load.getOperand()) + ", k)";
              },
          .store =
              [](StoreOp store, const std::string &value) {
                return identifier("out_", store.getOperand()) + "[k] = " + value + ";";
              },
          .gather = [this](StringRef operand,
                           const std::string &place) { return gatherText(operand, place); },
          .index = [](IndexOp) { return std::string(kColumn); },
          .column = kColumn,
          .accumulators = accumulators};
}

// --- Once a row ----------------------------------------------------------------------------------

Result<std::string> RowHooks::printOnRow(unsigned time, EachOp results, const std::string &values,
                                         bool averages) {
  Expressions texts = members.texts();
  llvm::SmallVector<Value> made;
  if (results)
    for (auto [k, result] : llvm::enumerate(results.getResults())) {
      texts.set(result, {values + ".values[" + std::to_string(k) + "]"});
      made.push_back(result);
    }
  BodyPrinter printer(kernel.getReal(), parts.program.getEquationsAttr(), std::move(texts),
                      onRow());
  for (Operation *op : phases.computedAt(time)) {
    auto quotient = dyn_cast<arith::DivFOp>(op);
    if (averages && quotient && llvm::is_contained(made, quotient.getLhs()))
      printer.define(op, {"fw::averageOf(" + printer.textOf(quotient.getLhs()).text + ", count)",
                          Level::Call});
    else if (auto printed = printer.print(op); !printed)
      return printed.takeError();
    made.append(op->result_begin(), op->result_end());
  }
  for (Value value : made)
    if (std::optional<std::string> name = members.nameOf(value))
      printer.line("row." + *name + " = " + printer.textOf(value).text + ";");
  return printer.take();
}

// --- Passes --------------------------------------------------------------------------------------

/// Eight elements share a draw, so a vector draws at once.
std::string RowHooks::printDraws(EachOp each) {
  std::string out;
  const Expressions texts = members.texts();
  for (auto bits : each.getBody().getOps<BitsOp>())
    out += "      fw::u32 " + drawName(bits) + "[W];\n      fw::drawVector<W>(" + drawName(bits) +
           ", static_cast<fw::u64>(" + texts.of(bits.getSeed()).text + "), static_cast<fw::u64>(" +
           texts.of(bits.getFirst()).text + ") + i, static_cast<fw::u32>(" +
           texts.of(bits.getOffset()).text + "), " + std::to_string(bits.getDraw()) + ");\n";
  return out;
}

Result<std::string> RowHooks::printPass(EachOp each, const std::string &accumulators) {
  if (!each)
    return std::string();
  Expressions texts = members.texts();
  BodyPlace place = onElement(accumulators);
  if (isBounded()) {
    place.known = boundingCondition(each);
    texts.set(place.known, {"fw::isWithin(i + k, row.firstColumn, row.lastColumn)", Level::Call});
  }
  Result<std::string> body =
      printBody(each, parts.program.getEquationsAttr(), std::move(texts), std::move(place));
  if (!body)
    return body;
  return printDraws(each) + "#pragma unroll\n      for (int k = 0; k < W; ++k) {\n" + *body +
         "      }\n";
}

static math::ExpOp exponentialOf(EachOp each) {
  auto found = each.getBody().getOps<math::ExpOp>();
  return found.empty() ? math::ExpOp() : *found.begin();
}

/// What the elements of a pair are taken about: a maximum itself, or the average of what is summed.
static Value aboutOf(const RowExchange &exchange) {
  EachOp referring = exchange.reference;
  Value found = referring.getResult(0);
  if (exchange.pair != Pair::moments)
    return found;
  auto quotient = llvm::find_if(found.getUsers(), [&](Operation *user) {
    auto division = dyn_cast<arith::DivFOp>(user);
    return division && division.getLhs() == found && user->getBlock() == referring->getBlock();
  });
  return quotient->getResult(0);
}

/// From the reference of a part to that of more.
Result<std::string> RowHooks::printRebase(const RowExchange &exchange) {
  if (!exchange.reference)
    return std::string();
  Value about = aboutOf(exchange);
  const std::string name = members.nameOf(about).value();
  if (exchange.pair == Pair::moments)
    return "      acc.values[0] = fw::movedSquares(acc.values[0], from." + name + " - to." + name +
           ", count);\n";
  math::ExpOp power = exponentialOf(exchange.reduction);
  Expressions texts{Expressions::Column::Cuda};
  texts.set(power.getOperand(), {"from." + name + " - to." + name, Level::Sum});
  Result<Text> factor = texts.spell(power);
  if (!factor)
    return factor.takeError();
  return "      acc.values[0] = fw::movedExponentials(acc.values[0], from." + name + ", to." +
         name + ", " + factor->text + ");\n";
}

Result<RowHooks::Exchange> RowHooks::printExchange(unsigned number) {
  const RowExchange &exchange = phases.exchanges()[number];
  Exchange out;
  const std::tuple<std::string *, Result<std::string>> parts[] = {
      {&out.refer, printPass(exchange.reference, "reference")},
      {&out.settle, printOnRow(RowPhases::settled(number), exchange.reference, "reference",
                               exchange.pair == Pair::moments)},
      {&out.map, printPass(exchange.reduction, "acc")},
      {&out.rebase, printRebase(exchange)},
      {&out.finish, printOnRow(RowPhases::finished(number), exchange.reduction, "acc")}};
  for (const auto &[text, printed] : parts) {
    if (!printed)
      return printed.error();
    *text = *printed;
  }
  return out;
}

Result<std::string> RowHooks::printBegin() {
  Result<std::string> body = printOnRow(RowPhases::kBegin, {}, "");
  if (!body)
    return body;
  return "  static FW_INLINE void begin(const Place &place, const Uniform &u, fw::u32 columns, "
         "Row &row) {\n" +
         *body + (isBounded() ? printBounds() : std::string()) + "  }\n";
}

Result<std::string> RowHooks::printEmit() {
  EachOp storing = phases.storing();
  Result<std::string> body = printPass(storing, "");
  if (!body)
    return body;
  std::string numbers, packs;
  if (storing)
    for (auto store : storing.getBody().getOps<StoreOp>()) {
      const std::string name = identifier("out_", store.getOperand());
      Type type = store.getValue().getType();
      numbers += "      " + typeText(isa<IntegerType>(type) ? type : kernel.getReal()) + " " +
                 name + "[W];\n";
      packs += "      fw::pack(out." + memberName(store.getOperand()) + ", " + name + ");\n";
    }
  return "  template <int W>\n"
         "  static FW_INLINE void emit(In<W> &in, const Column<W> &column, const Place &place, "
         "fw::u32 i, const Row &row, const Uniform &u, Out<W> &out) {\n" +
         numbers + *body + packs + "  }\n";
}

/// Everything that a row stores of its own is known by now.
std::string RowHooks::printEnd() {
  std::string body;
  Expressions texts = members.texts();
  for (StoreOp store : phases.rowStores()) {
    Value value = store.getValue();
    while (auto cast = value.getDefiningOp<CastOp>()) // the codec rounds
      if (isToStorage(cast))
        value = cast.getValue();
      else
        break;
    body += "    fw::storeValue<" + accessText(kernel, store.getOperand()) + ", " +
            texts.of(value).text + ");\n";
  }
  return "  static FW_INLINE void end(const Place &place, const Uniform &u, const Row &row) {\n" +
         body + "  }\n";
}

std::string RowHooks::limitText(const RowLimit &limit) {
  const Expressions texts = members.texts();
  std::string out = wholeNumber(limit.constant).text;
  for (auto [sign, value] : limit.terms)
    out = std::string(sign < 0 ? "fw::wholeDifference(" : "fw::wholeSum(") + out + ", " +
          texts.of(value).text + ")";
  return out;
}

/// The columns that matter. Each limit is moved into the row, so the largest first and the smallest
/// last one are, too.
std::string RowHooks::printBounds() {
  const std::optional<RowBounds> bounds = boundsOf(kernel, phases);
  std::string out;
  for (const bool isLast : {false, true}) {
    std::string text = isLast ? "static_cast<fw::i64>(columns)" : "fw::i64{0}";
    for (const RowLimit &limit : isLast ? bounds->last : bounds->first)
      text = std::string(isLast ? "fw::smaller(" : "fw::larger(") + text + ", fw::columnWithin(" +
             limitText(limit) + ", columns))";
    out += std::string("    row.") + (isLast ? "lastColumn" : "firstColumn") +
           " = static_cast<fw::u32>(" + text + ");\n";
  }
  return out;
}

static std::string boundHook(StringRef name) {
  return "  static FW_INLINE fw::u32 " + name.str() +
         "(const Place &place, const Row &row, const Uniform &u, fw::u32 columns) {\n    return "
         "row." +
         name.str() + "Column;\n  }\n";
}

// --- All of them ---------------------------------------------------------------------------------

/// "if constexpr (E == 0) { ... }" for each text that is not empty.
static std::string byNumber(llvm::ArrayRef<std::string> texts) {
  std::string out;
  for (auto [e, text] : llvm::enumerate(texts))
    if (!text.empty())
      out += "    if constexpr (E == " + std::to_string(e) + ") {\n" + text + "    }\n";
  return out;
}

Result<std::string> RowHooks::print() {
  llvm::SmallVector<std::string> refer, settle, map, rebase, finish;
  for (unsigned e = 0; e < phases.exchanges().size(); ++e) {
    Result<Exchange> exchange = printExchange(e);
    if (!exchange)
      return exchange.takeError();
    refer.push_back(exchange->refer);
    settle.push_back(exchange->settle);
    map.push_back(exchange->map);
    rebase.push_back(exchange->rebase);
    finish.push_back(exchange->finish);
  }
  Result<std::string> begin = printBegin(), emit = printEmit();
  if (!begin || !emit)
    return begin ? emit : begin;
  const std::string element =
      "In<W> &in, const Column<W> &column, const Place &place, fw::u32 i, const Row &row, const "
      "Uniform &u, ";
  auto hook = [](const std::string &parameters, const std::string &head,
                 llvm::ArrayRef<std::string> texts) {
    return "  template <" + parameters + ">\n  static FW_INLINE void " + head + " {\n" +
           byNumber(texts) + "  }\n";
  };
  return *begin + hook("int E, int W", "refer(" + element + "Reference<E> &reference)", refer) +
         hook("int E",
              "settle(const Reference<E> &reference, Real count, const Uniform &u, Row &row)",
              settle) +
         hook("int E, int W", "map(" + element + "Acc<E> &acc)", map) +
         hook("int E", "rebase(Acc<E> &acc, const Row &from, const Row &to, Real count)", rebase) +
         hook("int E",
              "finish(const Acc<E> &acc, const Row &own, const Place &place, const Uniform &u, "
              "fw::u32 columns, Row &row)",
              finish) +
         *emit + printEnd() +
         (isBounded() ? boundHook("first") + boundHook("last") : std::string());
}

} // namespace fw::emit
