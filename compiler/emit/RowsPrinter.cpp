#include "compiler/emit/RowsPrinter.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/emit/RowHooks.h"

#include <map>

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

std::string flag(StringRef name, bool value) {
  return name.str() + (value ? " = true" : " = false");
}
std::string number(StringRef name, int64_t value) {
  return name.str() + " = " + std::to_string(value);
}

unsigned bytesOf(OperandAttr operand) {
  StringRef dtype = operand.getDtype();
  return storageBytes({dtype.data(), dtype.size()});
}

template <class Access> bool touches(EachOp each, StringRef operand) {
  return each && llvm::any_of(each.getBody().getOps<Access>(),
                              [&](Access access) { return access.getOperand() == operand; });
}

/// Constants, types and memory; RowHooks prints what is computed.
class RowsPrinter {
public:
  explicit RowsPrinter(KernelParts parts)
      : parts(parts), kernel(parts.kernel), phases(kernel), schedule(kernel.getScheduleAttr()),
        members(kernel, phases) {
    for (auto [place, operand] : llvm::enumerate(columnsOf(kernel)))
      operands[rowAccess(kernel, operand)].emplace_back(unsigned(place), operand);
  }

  Result<std::string> print() {
    if (operands[RowAccess::stream].empty())
      return Error{.code = Code::USAGE,
                   .text = "expected an op over rows with a value per element on a GPU, got op '" +
                           parts.program.getSymName().str() + "' without one",
                   .remedy = "run it on the CPU"};
    Result<std::string> hooks = RowHooks(parts, phases, members).print();
    if (!hooks)
      return hooks;
    return printConstants() + printTypes() + printLoad() + printLoadColumn() + *hooks +
           printStore() + (schedule.get("bounded") ? printNeutral() : "");
  }

private:
  // --- What the skeleton asks of the operands ---

  unsigned exchanges() const { return unsigned(phases.exchanges().size()); }

  /// Whether phase `e` of the skeleton reads the operand; the one behind the exchanges stores.
  bool isLoadedIn(unsigned e, StringRef operand) const {
    if (e == exchanges())
      return touches<LoadOp>(phases.storing(), operand);
    const RowExchange &exchange = phases.exchanges()[e];
    return touches<LoadOp>(exchange.reference, operand) ||
           touches<LoadOp>(exchange.reduction, operand);
  }
  bool isLoaded(StringRef operand) const {
    return llvm::any_of(llvm::seq(0u, exchanges() + 1),
                        [&](unsigned e) { return isLoadedIn(e, operand); });
  }

  template <class Predicate> Streams streamsThat(Predicate predicate) {
    Streams streams;
    for (auto &[place, operand] : operands[RowAccess::stream])
      if (predicate(operand.getName().strref()))
        streams.emplace_back(place, operand);
    return streams;
  }
  Streams loaded() {
    return streamsThat([this](StringRef operand) { return isLoaded(operand); });
  }
  Streams stored() {
    return streamsThat(
        [this](StringRef operand) { return touches<StoreOp>(phases.storing(), operand); });
  }

  /// The stream whose accesses are widest says where vectors start: its place, and its bytes.
  std::pair<unsigned, unsigned> lead() {
    std::pair<unsigned, unsigned> widest{0, 0};
    for (auto &[place, operand] : operands[RowAccess::stream])
      if (bytesOf(operand) > widest.second)
        widest = {place, bytesOf(operand)};
    return widest;
  }

  /// Operands of columns that passes read; others are read at a place of the row alone.
  Streams loadedColumns() {
    Streams columns;
    for (auto &[place, operand] : operands[RowAccess::column])
      if (isLoaded(operand.getName()))
        columns.emplace_back(place, operand);
    return columns;
  }

  unsigned columnPhases() {
    unsigned bits = 0;
    for (unsigned e = 0; e <= exchanges(); ++e)
      for (auto &[place, operand] : operands[RowAccess::column])
        bits |= unsigned(isLoadedIn(e, operand.getName())) << e;
    return bits;
  }
  unsigned sharedOperands() {
    unsigned bits = 0;
    for (auto &[place, operand] : operands[RowAccess::column])
      bits |= 1u << place;
    return bits;
  }

  // --- Text ---

  std::string printConstants() {
    const int64_t vec = schedule.get("vec");
    const auto [leading, leadBytes] = lead();
    const std::pair<const char *, int64_t> numbers[] = {
        {"V", vec},
        {"VECTORS", schedule.get("vectors")},
        {"STEPS", schedule.get("steps")},
        {"THREADS", schedule.get("threads")},
        {"BLOCKS", schedule.get("blocks_per_sm")},
        {"THREADS_PER_ROW", schedule.get("threads_per_row")},
        {"ROWS_PER_THREAD", schedule.get("rows_per_thread")},
        {"COLUMNS", kernel.fact("columns")},
        {"AXES", launchAxes(kernel)},
        {"OPERANDS", int64_t(columnsOf(kernel).size())},
        {"SLOTS", int64_t(parts.slots.size())},
        {"EXCHANGES", exchanges()},
        {"LEAD", leading},
        {"LEAD_BYTES", leadBytes}};
    // Single elements are on boundaries of their own always.
    const std::pair<const char *, bool> flags[] = {
        {"ALIGNED", kernel.fact("aligned") > 1 || vec == 1},
        {"HOLDS", schedule.get("keep") == 0},
        {"EARLY", schedule.get("weight") == 0},
        {"FRESH", schedule.get("fresh") != 0},
        {"LINED", schedule.get("lined") != 0},
        {"BOUNDED", schedule.get("bounded") != 0},
        {"COUNTED", phases.isCounted()}};
    std::string out;
    for (auto [name, value] : numbers)
      out += "  static constexpr int " + number(name, value) + ";\n";
    for (auto [name, value] : flags)
      out += "  static constexpr bool " + flag(name, value) + ";\n";
    return out + "  static constexpr fw::u32 " + number("SHARED_OPERANDS", sharedOperands()) +
           ", " + number("COLUMN_PHASES", columnPhases()) + ";\n";
  }

  std::string printTypes() {
    const std::string table = parts.tableType();
    return "  using Real = " + typeText(kernel.getReal()) + ";\n  using Index = fw::u" +
           std::to_string(kernel.fact("index")) +
           ";\n  using Launch = fw::RowsLaunch<OPERANDS, AXES, SLOTS, " + table +
           ">;\n  using Place = fw::RowPlace<Op>;\n" + printStreams("In", loaded()) +
           printStreams("Column", loadedColumns(), "fw::ColumnRaw") +
           printStreams("Out", stored()) + printUniform(parts, table) + members.print() +
           printAccumulators();
  }

  static const char *monoid(Attribute kind) {
    switch (cast<ReduceKindAttr>(kind).getValue()) {
    case ReduceKind::Sum:
      return "fw::Sum";
    case ReduceKind::Max:
      return "fw::Max";
    case ReduceKind::Min:
      break;
    }
    return "fw::Min";
  }

  static std::string accumulators(EachOp each) {
    if (!each)
      return "fw::Nothing<Real>";
    std::string out = "fw::Accumulators<Real";
    ArrayAttr kinds = *each.getKinds();
    for (Attribute kind : kinds)
      out += std::string(", ") + monoid(kind);
    return out + ">";
  }

  /// Types by the number of the exchange.
  std::string printAccumulators() {
    std::string references, reductions;
    for (const RowExchange &exchange : phases.exchanges()) {
      references += ", " + accumulators(exchange.reference);
      reductions += ", " + accumulators(exchange.reduction);
    }
    if (references.empty())
      references = reductions = ", fw::Nothing<Real>";
    return "  template <int E> using Reference = typename fw::Pick<E" + references +
           ">::Type;\n  template <int E> using Acc = typename fw::Pick<E" + reductions +
           ">::Type;\n";
  }

  /// A row that is held is loaded at once; else each phase loads what it reads.
  std::string printLoad() {
    std::string body;
    const bool holds = schedule.get("keep") == 0;
    for (unsigned e = 0; e <= exchanges(); ++e) {
      const Streams streams =
          holds ? loaded() : streamsThat([&](StringRef operand) { return isLoadedIn(e, operand); });
      const std::string accesses =
          printAccesses("  fw::load<W>(in.", ", i, policy);\n", streams, "place.pointers");
      if (!accesses.empty() && (e == 0 || !holds))
        body += "    if constexpr (E == " + std::to_string(e) + ") {\n" + accesses + "    }\n";
    }
    return "  template <int E, int W, class Policy>\n"
           "  static FW_INLINE void load(In<W> &in, const Place &place, fw::u32 i, Policy policy) "
           "{\n" +
           body + "  }\n";
  }

  std::string printLoadColumn() {
    const char *function = schedule.get("vec") == 1 || kernel.fact("aligned") > 1
                               ? "fw::loadColumn<W>(column."
                               : "fw::loadColumnShifted<W>(column.";
    return "  template <int W>\n"
           "  static FW_INLINE void loadColumn(Column<W> &column, const Place &place, fw::u32 i) "
           "{\n" +
           printAccesses(function, ", i);\n", loadedColumns(), "place.pointers") + "  }\n";
  }

  /// The body takes no notice of what a register has for a column outside of the bounds.
  static std::string printNeutral() {
    return "  template <int W> static FW_INLINE void neutral(In<W> &, int) {}\n";
  }

  std::string printStore() {
    return "  template <int W>\n"
           "  static FW_INLINE void store(const Out<W> &out, const Place &place, fw::u32 i) {\n" +
           printAccesses("fw::store<W>(out.", ", i);\n", stored(), "place.pointers") + "  }\n";
  }

  KernelParts parts;
  KernelOp kernel;
  RowPhases phases;
  ScheduleAttr schedule;
  RowMembers members;
  std::map<RowAccess, Streams> operands;
};

} // namespace

Result<std::string> printRowsOp(KernelParts parts) { return RowsPrinter(parts).print(); }

} // namespace fw::emit
