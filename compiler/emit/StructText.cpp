#include "compiler/emit/StructText.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/emit/BodyPrinter.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {

KernelParts::KernelParts(ProgramOp program, KernelOp kernel) : program(program), kernel(kernel) {
  for (auto result : scalarsBefore(kernel).getBody().getOps<ResultOp>())
    slots.push_back(result);
}

ScalarsOp KernelParts::scalarsBehind() {
  auto reductions = kernel.getBody().getOps<ReductionOp>();
  return reductions.empty() ? ScalarsOp() : cast<ScalarsOp>(kernel->getNextNode());
}

std::string KernelParts::tableType() {
  const bool hasInts =
      llvm::any_of(slots, [](ResultOp slot) { return slot.getType().isInteger(64); });
  return kernel.getReal().isF64() || hasInts ? "double" : "float";
}

std::string storageText(StringRef dtype) {
  const std::string_view name(dtype.data(), dtype.size());
  if (const IntDtype *whole = findIntDtype(name))
    return std::string(whole->cuda);
  return std::string(findDtype(name)->cuda);
}

std::string printStreams(StringRef name, const Streams &streams, StringRef holder) {
  std::string out = "  template <int W> struct " + name.str() + " {\n";
  for (auto [place, operand] : streams)
    out += "    " + holder.str() + "<" + storageText(operand.getDtype()) + ", W> " +
           memberName(operand.getName()) + ";\n";
  return out + "  };\n";
}

std::string printAccesses(StringRef begin, StringRef end, const Streams &streams,
                          StringRef pointers) {
  std::string out;
  for (auto [place, operand] : streams)
    out += "    " + begin.str() + memberName(operand.getName()) + ", fw::pointer<" +
           storageText(operand.getDtype()) + ">(" + pointers.str() + ", " + std::to_string(place) +
           ")" + end.str();
  return out;
}

std::string printUniform(KernelParts parts, StringRef table) {
  std::string members, values;
  for (auto [place, slot] : llvm::enumerate(parts.slots)) {
    const std::string type = typeText(slot.getType());
    const std::string value = "scalars[" + std::to_string(place) + "]";
    members += "    " + type + " " + memberName(slot.getSlot()) + ";\n";
    values += "    u." + memberName(slot.getSlot()) + " = " +
              (slot.getType().isInteger(1) ? value + " != 0"
               : type == table             ? value
                                           : "static_cast<" + type + ">(" + value + ")") +
              ";\n";
  }
  return "  struct Uniform {\n" + members +
         "  };\n"
         "  static FW_INLINE Uniform uniform(const " +
         (table == typeText(parts.kernel.getReal()) ? "Real" : table.str()) +
         " *scalars) {\n"
         "    Uniform u;\n" +
         values +
         "    return u;\n"
         "  }\n";
}

} // namespace fw::emit
