#include "compiler/emit/ElementsPrinter.h"

#include "compiler/emit/BodyPrinter.h"
#include "compiler/emit/ScalarCodes.h"

#include <set>

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

/// The columns of a kernel that ops of type `Access` (load or store) touch, with the place of each.
template <class Access> Streams touched(KernelOp kernel, EachOp each) {
  Streams out;
  std::set<std::string> names;
  for (auto access : each.getBody().getOps<Access>())
    names.insert(access.getOperand().str());
  for (auto [place, operand] : llvm::enumerate(columnsOf(kernel)))
    if (names.count(operand.getName().str()))
      out.emplace_back(place, operand);
  return out;
}

class ElementsPrinter {
public:
  explicit ElementsPrinter(KernelParts parts) : parts(parts), kernel(parts.kernel) {}

  Result<std::string> print() {
    auto passes = llvm::to_vector(kernel.getBody().getOps<EachOp>());
    if (passes.size() != 1)
      return Error{.code = Code::INTERNAL,
                   .text = "expected a kernel of one pass over elements, got '" +
                           kernel.getSymName().str() + "'"};
    EachOp each = passes.front();
    Result<std::string> body =
        printBody(each, parts.program.getEquationsAttr(), slotTexts(kernel), bodyPlace());
    if (!body)
      return body;
    return printConstants() + printStreams("In", touched<LoadOp>(kernel, each)) +
           (parts.scalarsBehind() ? "" : printStreams("Out", touched<StoreOp>(kernel, each))) +
           printUniform(parts, typeText(kernel.getReal())) +
           "  template <int W>\n"
           "  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 "
           "policy) {\n" +
           printAccesses("fw::load<W>(in.", ", i, policy);\n", touched<LoadOp>(kernel, each)) +
           "  }\n" +
           (parts.scalarsBehind() ? printReducing(each, *body) : printStoring(each, *body));
  }

private:
  static BodyPlace bodyPlace() {
    return {
        .indent = "      ",
        .load = [](LoadOp load) { return "fw::get(in." + memberName(load.getOperand()) + ", k)"; },
        .store =
            [](StoreOp store, const std::string &value) {
              return "fw::set(out." + memberName(store.getOperand()) + ", k, " + value + ");";
            }};
  }

  std::string printConstants() {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    auto number = [&](StringRef name) { return std::to_string(schedule.get(name)); };
    return "  static constexpr int V = " + number("vec") + ", INFLIGHT = " + number("inflight") +
           ", THREADS = " + number("threads") + ", BLOCKS = " + number("blocks_per_sm") +
           ", CHUNK = " + number("chunk") +
           ",\n                       OPERANDS = " + std::to_string(columnsOf(kernel).size()) +
           ", SLOTS = " + std::to_string(parts.slots.size()) +
           ";\n"
           "  using Real = " +
           typeText(kernel.getReal()) +
           ";\n"
           "  using Launch = fw::" +
           (parts.scalarsBehind() ? "ReduceLaunch" : "ElementsLaunch") +
           "<OPERANDS, SLOTS, Real>;\n";
  }

  static std::string printLoop(StringRef head, const std::string &body) {
    return "  template <int W>\n"
           "  static FW_INLINE void " +
           head.str() +
           " {\n"
           "#pragma unroll\n"
           "    for (int k = 0; k < W; ++k) {\n" +
           body +
           "    }\n"
           "  }\n";
  }

  std::string printStoring(EachOp each, const std::string &body) {
    return printLoop("emit(const In<W> &in, const Uniform &u, Out<W> &out)", body) +
           "  template <int W>\n"
           "  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) "
           "{\n" +
           printAccesses("fw::store<W>(out.", ", i);\n", touched<StoreOp>(kernel, each)) + "  }\n" +
           printSkip() + printEarly();
  }

  std::string printEarly() {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    const bool isEarly = schedule.has("early_launch") && schedule.get("early_launch");
    return isEarly ? "  static constexpr bool EARLY = true;\n" : "";
  }

  /// Whether a block leaves everything as it is; nothing for a kernel that always stores.
  std::string printSkip() {
    std::string condition;
    for (auto skip : kernel.getBody().getOps<SkipIfOp>())
      condition += (condition.empty() ? "u." : " || u.") +
                   memberName(skip.getCondition().getDefiningOp<SlotOp>().getSlot());
    if (condition.empty())
      return "";
    return "  static FW_INLINE bool skip(const Uniform &u) { return " + condition + "; }\n";
  }

  std::string printReducing(EachOp each, const std::string &body) {
    std::string monoids;
    unsigned perTensor = 0;
    for (auto [k, reduction] : llvm::enumerate(kernel.getBody().getOps<ReductionOp>())) {
      auto kind = cast<ReduceKindAttr>((*each.getKinds())[k]).getValue();
      monoids += kind == ReduceKind::Sum   ? ", fw::Sum"
                 : kind == ReduceKind::Max ? ", fw::Max"
                                           : ", fw::Min";
      perTensor |= unsigned(reduction.getKeep().getLevel() == ScopeLevel::Tensor) << k;
    }
    return "  using Acc = fw::Accumulators<Real" + monoids +
           ">;\n"
           "  static constexpr fw::u32 PER_TENSOR = " +
           std::to_string(perTensor) + ";\n" +
           printLoop("map(const In<W> &in, const Uniform &u, Acc &acc)", body) +
           printScalarSwitch(parts.scalarsBehind(), "  ");
  }

  KernelParts parts;
  KernelOp kernel;
};

} // namespace

Result<std::string> printElementsOp(KernelParts parts) { return ElementsPrinter(parts).print(); }

} // namespace fw::emit
