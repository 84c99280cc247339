#include "compiler/emit/CudaPrinter.h"

#include "compiler/emit/BodyPrinter.h"
#include "compiler/emit/ScalarCodes.h"
#include "compiler/emit/ScalarComments.h"
#include "compiler/emit/Vocabulary.h"
#include "compiler/emit/Words.h"
#include "templates/Templates.h"

#include <set>

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

Error internal(std::string text) { return {.code = Code::INTERNAL, .text = std::move(text)}; }

/// The columns of a kernel that ops of type `Access` (load or store) touch, with the place of each.
template <class Access>
std::vector<std::pair<unsigned, OperandAttr>> touched(KernelOp kernel, EachOp each) {
  std::vector<std::pair<unsigned, OperandAttr>> out;
  std::set<std::string> names;
  for (auto access : each.getBody().getOps<Access>())
    names.insert(access.getOperand().str());
  for (auto [place, operand] : llvm::enumerate(columnsOf(kernel)))
    if (names.count(operand.getName().str()))
      out.emplace_back(place, operand);
  return out;
}

class KernelPrinter {
public:
  KernelPrinter(ProgramOp program, KernelOp kernel, const target::Arch &arch)
      : program(program), kernel(kernel), arch(arch) {
    for (auto result : scalarsBefore(kernel).getBody().getOps<ResultOp>())
      slots.push_back(result);
  }

  Result<std::string> print() {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    const auto *skeleton =
        schedule ? templates::findSkeleton(schedule.getSkeleton().strref()) : nullptr;
    auto passes = llvm::to_vector(kernel.getBody().getOps<EachOp>());
    if (!skeleton || passes.size() != 1)
      return internal("expected a kernel of one pass with a known schedule, got '" +
                      kernel.getSymName().str() + "'");
    Result<std::string> comments = printComments();
    if (!comments)
      return comments.takeError();
    Result<std::string> op = printOp(passes.front());
    if (!op)
      return op.takeError();
    std::string body = *op + printEntry(*skeleton);
    Result<std::string> headers = printHeaders(*skeleton, body);
    if (!headers)
      return headers.takeError();
    return *comments + *headers + "\n" + body;
  }

private:
  Result<std::string> printComments() {
    std::string out = "// " + kernel.getSymName().str() + "\n";
    std::pair<ScalarsOp, const char *> parts[] = {{scalarsBefore(kernel), ""},
                                                  {scalarsBehind(), ", behind the kernel"}};
    for (auto [scalars, place] : parts) {
      Result<std::string> comments = scalars ? scalarComments(scalars) : std::string();
      if (!comments)
        return comments;
      if (!comments->empty())
        out += "// Scalar program of " + program.getSymName().str() + place + ", in f64:\n" +
               *comments;
    }
    return out + "\n";
  }

  /// What the last block of a reducing kernel runs.
  ScalarsOp scalarsBehind() {
    auto reductions = kernel.getBody().getOps<ReductionOp>();
    return reductions.empty() ? ScalarsOp() : cast<ScalarsOp>(kernel->getNextNode());
  }

  /// Feature macros, then the headers that the skeleton and the body need.
  Result<std::string> printHeaders(const templates::Skeleton &skeleton, const std::string &body) {
    std::set<std::string_view> used = usedHeaders(body);
    std::vector<std::string_view> headers(used.begin(), used.end());
    headers.insert(headers.begin(), skeleton.file);
    return printVocabulary(headers, arch);
  }

  /// The headers of all names `fw::...` in `text`.
  static std::set<std::string_view> usedHeaders(StringRef text) {
    std::set<std::string_view> headers;
    for (size_t at = text.find("fw::"); at != StringRef::npos; at = text.find("fw::", at + 1)) {
      StringRef name = text.substr(at).take_while(
          [](char c) { return llvm::isAlnum(c) || c == '_' || c == ':'; });
      std::string_view header = templates::headerOf(std::string_view(name));
      if (!header.empty())
        headers.insert(header);
    }
    return headers;
  }

  Result<std::string> printOp(EachOp each) {
    Result<std::string> body = printBody(each, program.getEquationsAttr(), "      ");
    if (!body)
      return body;
    return "struct Op {\n" + printConstants() + printStreams("In", touched<LoadOp>(kernel, each)) +
           (scalarsBehind() ? "" : printStreams("Out", touched<StoreOp>(kernel, each))) +
           printUniform() +
           "  template <int W>\n"
           "  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 "
           "policy) {\n" +
           printAccesses("fw::load<W>(in.", ", i, policy);\n", touched<LoadOp>(kernel, each)) +
           "  }\n" + (scalarsBehind() ? printReducing(each, *body) : printStoring(each, *body)) +
           "};\n\n";
  }

  std::string printConstants() {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    auto number = [&](StringRef name) { return std::to_string(schedule.get(name)); };
    return "  static constexpr int V = " + number("vec") + ", INFLIGHT = " + number("inflight") +
           ", THREADS = " + number("threads") + ", BLOCKS = " + number("blocks_per_sm") +
           ", CHUNK = " + number("chunk") +
           ",\n                       OPERANDS = " + std::to_string(columnsOf(kernel).size()) +
           ", SLOTS = " + std::to_string(slots.size()) +
           ";\n"
           "  using Real = " +
           typeText(kernel.getReal()) +
           ";\n"
           "  using Launch = fw::" +
           (scalarsBehind() ? "ReduceLaunch" : "ElementsLaunch") + "<OPERANDS, SLOTS, Real>;\n";
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
           printScalarSwitch(scalarsBehind(), "  ");
  }

  using Streams = std::vector<std::pair<unsigned, OperandAttr>>;

  static std::string printStreams(StringRef name, const Streams &streams) {
    std::string out = "  template <int W> struct " + name.str() + " {\n";
    for (auto [place, operand] : streams)
      out += "    fw::Raw<" + storageText(operand.getDtype()) + ", W> " +
             memberName(operand.getName()) + ";\n";
    return out + "  };\n";
  }

  static std::string printAccesses(StringRef begin, StringRef end, const Streams &streams) {
    std::string out;
    for (auto [place, operand] : streams)
      out += "    " + begin.str() + memberName(operand.getName()) + ", fw::pointer<" +
             storageText(operand.getDtype()) + ">(pointers, " + std::to_string(place) + ")" +
             end.str();
    return out;
  }

  std::string printUniform() {
    std::string members, values;
    for (auto [place, slot] : llvm::enumerate(slots)) {
      std::string value = "scalars[" + std::to_string(place) + "]";
      bool isTruth = slot.getType().isInteger(1);
      members += "    " + typeText(slot.getType()) + " " + memberName(slot.getSlot()) + ";\n";
      values +=
          "    u." + memberName(slot.getSlot()) + " = " + value + (isTruth ? " != 0" : "") + ";\n";
    }
    return "  struct Uniform {\n" + members +
           "  };\n"
           "  static FW_INLINE Uniform uniform(const Real *scalars) {\n"
           "    Uniform u;\n" +
           values +
           "    return u;\n"
           "  }\n";
  }

  std::string printEntry(const templates::Skeleton &skeleton) {
    return "extern \"C\" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)\n" +
           kernel.getSymName().str() +
           "(const __grid_constant__ Op::Launch launch) {\n"
           "  " +
           skeleton.function +
           "<Op>(launch);\n"
           "}\n";
  }

  ProgramOp program;
  KernelOp kernel;
  const target::Arch &arch;
  SmallVector<ResultOp> slots;
};

} // namespace

Result<std::vector<std::string>> printCuda(ProgramOp program, const target::Arch &arch) {
  std::vector<std::string> kernels;
  for (KernelOp kernel : program.getBody().getOps<KernelOp>()) {
    Result<std::string> printed = KernelPrinter(program, kernel, arch).print();
    if (!printed)
      return printed.takeError();
    kernels.push_back(std::move(*printed));
  }
  return kernels;
}

} // namespace fw::emit
