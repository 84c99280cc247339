#include "compiler/emit/CudaPrinter.h"

#include "compiler/emit/BodyPrinter.h"
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

/// The operands that ops of type `Access` (load or store) of `each` touch, in table order, with the
/// place of each.
template <class Access>
std::vector<std::pair<unsigned, OperandAttr>> touched(ProgramOp program, EachOp each) {
  std::vector<std::pair<unsigned, OperandAttr>> out;
  std::set<std::string> names;
  for (auto access : each.getBody().getOps<Access>())
    names.insert(access.getOperand().str());
  for (auto [place, operand] : llvm::enumerate(program.getOperands().getAsRange<OperandAttr>()))
    if (names.count(operand.getName().str()))
      out.emplace_back(place, operand);
  return out;
}

class KernelPrinter {
public:
  KernelPrinter(ProgramOp program, KernelOp kernel, const target::Arch &arch)
      : program(program), kernel(kernel), arch(arch) {
    for (auto scalars : program.getBody().getOps<ScalarsOp>())
      for (auto result : scalars.getBody().getOps<ResultOp>())
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
    for (auto scalars : program.getBody().getOps<ScalarsOp>()) {
      Result<std::string> comments = scalarComments(scalars);
      if (!comments)
        return comments;
      if (!comments->empty())
        out += "// Scalar program of " + program.getSymName().str() + ", in f64:\n" + *comments;
    }
    return out + "\n";
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
    ScheduleAttr schedule = kernel.getScheduleAttr();
    Result<std::string> body = printBody(each, program.getEquationsAttr(), "      ");
    if (!body)
      return body;
    auto number = [&](StringRef name) { return std::to_string(schedule.get(name)); };
    return "struct Op {\n"
           "  static constexpr int V = " +
           number("vec") + ", INFLIGHT = " + number("inflight") +
           ", THREADS = " + number("threads") + ", BLOCKS = " + number("blocks_per_sm") +
           ", CHUNK = " + number("chunk") +
           ",\n                       OPERANDS = " + std::to_string(program.getOperands().size()) +
           ", SLOTS = " + std::to_string(slots.size()) +
           ";\n"
           "  using Real = " +
           typeText(kernel.getReal()) +
           ";\n"
           "  using Launch = fw::ElementsLaunch<OPERANDS, SLOTS, Real>;\n" +
           printStreams("In", touched<LoadOp>(program, each)) +
           printStreams("Out", touched<StoreOp>(program, each)) + printUniform() +
           "  template <int W>\n"
           "  static FW_INLINE void load(In<W> &in, const fw::u64 *pointers, fw::u64 i, fw::u64 "
           "policy) {\n" +
           printAccesses("fw::load<W>(in.", ", i, policy);\n", touched<LoadOp>(program, each)) +
           "  }\n"
           "  template <int W>\n"
           "  static FW_INLINE void emit(const In<W> &in, const Uniform &u, Out<W> &out) {\n"
           "#pragma unroll\n"
           "    for (int k = 0; k < W; ++k) {\n" +
           *body +
           "    }\n"
           "  }\n"
           "  template <int W>\n"
           "  static FW_INLINE void store(const Out<W> &out, const fw::u64 *pointers, fw::u64 i) "
           "{\n" +
           printAccesses("fw::store<W>(out.", ", i);\n", touched<StoreOp>(program, each)) +
           "  }\n"
           "};\n\n";
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
