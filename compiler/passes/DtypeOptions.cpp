#include "compiler/passes/DtypeOptions.h"

#include "compiler/dialect/Dtypes.h"

#include <algorithm>

namespace fw::passes {

static Error usage(std::string text, std::string remedy) {
  return {.code = Code::USAGE, .text = std::move(text), .remedy = std::move(remedy)};
}

Result<DtypeBindings> parseDtypes(std::string_view text) {
  DtypeBindings bindings;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    size_t equals = entry.find('=');
    if (equals == entry.npos || equals == 0)
      return usage("expected operand=dtype, got '" + std::string(entry) + "'",
                   "write for example p=f32,g=bf16");
    std::string name(entry.substr(0, equals)), dtype(entry.substr(equals + 1));
    if (!findDtype(dtype) && !findIntDtype(dtype))
      return usage("expected one of the dtypes " + listDtypes() + " for '" + name + "', got '" +
                       dtype + "'",
                   "choose one of the list");
    for (const auto &[bound, _] : bindings)
      if (bound == name)
        return usage("expected one dtype for '" + name + "', got two", "give one");
    bindings.emplace_back(std::move(name), std::move(dtype));
  }
  return bindings;
}

std::string dtypeOr(const DtypeBindings &bindings, std::string_view name,
                    std::string_view otherwise) {
  for (const auto &[bound, dtype] : bindings)
    if (bound == name)
      return dtype;
  return std::string(otherwise);
}

} // namespace fw::passes
