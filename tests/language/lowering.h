// Texts of what ops become at the semantic level.
#pragma once

#include "tests/language/support.h"

#include "compiler/dialect/Fuse.h"
#include "compiler/language/Lowering.h"

#include "llvm/Support/raw_ostream.h"

#include <set>
#include <sstream>

inline std::string moduleText(const fw::language::OpHandle &op,
                              const fw::language::OptionValues &options,
                              const std::set<std::string> &absent = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  fw::Result<fw::language::ResolvedOp> resolved = resolve(*op, options);
  if (!resolved)
    return fw::render(resolved.error());
  auto module = lowerOp(context, *resolved, absent);
  if (!module)
    return fw::render(module.error()) + "\n" + module.error().log;
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text + "\n";
}

/// The operations of the body of opWith(body), without labels of their own.
inline std::string bodyOf(std::string_view body, const std::set<std::string> &absent = {},
                          std::string_view declarations = "in x;  out y;  hyper a = 1") {
  std::string text = moduleText(parsed("op test over elements {\n" + std::string(declarations) +
                                       "\n" + std::string(body) + "\n}"),
                                {}, absent);
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    "))
      out += line.substr(4) + "\n";
  return out;
}
