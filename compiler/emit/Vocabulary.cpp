#include "compiler/emit/Vocabulary.h"

#include "templates/Templates.h"

#include "llvm/ADT/StringRef.h"

namespace fw::emit {

Result<std::string> printVocabulary(std::span<const std::string_view> files,
                                    const target::Arch &arch) {
  Result<std::string> text = templates::assemble(files);
  if (!text)
    return text;
  std::string macros;
  for (const std::string &name : templates::featuresAsked(*text)) {
    auto feature = target::findFeature(name);
    if (!feature)
      return Error{Code::INTERNAL,
                   "expected a feature of features.def in the templates, got '" + name + "'"};
    if (target::has(arch, *feature))
      macros += "#define FW_HAS_" + llvm::StringRef(name).upper() + " 1\n";
  }
  return macros + *text;
}

} // namespace fw::emit
