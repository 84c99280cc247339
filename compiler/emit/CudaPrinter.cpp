#include "compiler/emit/CudaPrinter.h"

#include "compiler/emit/ElementsPrinter.h"
#include "compiler/emit/RowsPrinter.h"
#include "compiler/emit/ScalarComments.h"
#include "compiler/emit/Vocabulary.h"
#include "compiler/emit/Words.h"
#include "templates/Templates.h"

#include <set>

using namespace mlir;
using namespace fw::fuse;

namespace fw::emit {
namespace {

class KernelPrinter {
public:
  KernelPrinter(ProgramOp program, KernelOp kernel, const target::Arch &arch)
      : parts(program, kernel), kernel(kernel), arch(arch) {}

  Result<std::string> print() {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    const auto *skeleton =
        schedule ? templates::findSkeleton(schedule.getSkeleton().strref()) : nullptr;
    if (!skeleton)
      return Error{.code = Code::INTERNAL,
                   .text = "expected a kernel with a known schedule, got '" +
                           kernel.getSymName().str() + "'"};
    Result<std::string> comments = printComments();
    if (!comments)
      return comments.takeError();
    Result<std::string> op =
        kernel.getPattern() == fuse::Pattern::Rows ? printRowsOp(parts) : printElementsOp(parts);
    if (!op)
      return op.takeError();
    std::string body = "struct Op {\n" + *op + "};\n\n" + printEntry(*skeleton);
    Result<std::string> headers = printHeaders(*skeleton, body);
    if (!headers)
      return headers.takeError();
    return *comments + *headers + "\n" + body;
  }

private:
  Result<std::string> printComments() {
    std::string out = "// " + kernel.getSymName().str() + "\n";
    std::pair<ScalarsOp, const char *> programs[] = {
        {scalarsBefore(kernel), ""}, {parts.scalarsBehind(), ", behind the kernel"}};
    for (auto [scalars, place] : programs) {
      Result<std::string> comments = scalars ? scalarComments(scalars) : std::string();
      if (!comments)
        return comments;
      if (!comments->empty())
        out += "// Scalar program of " + parts.program.getSymName().str() + place + ", in f64:\n" +
               *comments;
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

  std::string printEntry(const templates::Skeleton &skeleton) {
    return "extern \"C\" __global__ void __launch_bounds__(Op::THREADS, Op::BLOCKS)\n" +
           kernel.getSymName().str() +
           "(const __grid_constant__ Op::Launch launch) {\n"
           "  " +
           skeleton.function +
           "<Op>(launch);\n"
           "}\n";
  }

  KernelParts parts;
  KernelOp kernel;
  const target::Arch &arch;
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
