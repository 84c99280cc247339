// Fuzz target of the op language: any text is refused with a diagnostic, or lowers to a module that
// the verifier takes.
#include "compiler/dialect/Fuse.h"
#include "compiler/language/Lowering.h"
#include "compiler/language/OpFile.h"

#include <cstdio>
#include <cstdlib>

using namespace fw::language;

namespace {

[[noreturn]] void fail(const fw::Error &error) {
  std::fprintf(stderr, "%s\n%s\n", fw::render(error).c_str(), error.log.c_str());
  std::abort();
}

/// The last value of every option: with the defaults, both arms of each choice.
OptionValues lastValues(const Op &op) {
  OptionValues chosen;
  auto defaults = resolve(op, {});
  if (!defaults)
    fail(defaults.error());
  for (const OptionInfo &option : defaults->info.options)
    chosen[option.name] = option.values.back();
  return chosen;
}

void lower(const Op &op, const OptionValues &chosen) {
  auto resolved = resolve(op, chosen);
  if (!resolved)
    fail(resolved.error());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  auto module = lowerOp(context, *resolved);
  if (!module)
    fail(module.error());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = OpFile::parse({reinterpret_cast<const char *>(data), size}, "fuzz.fuse");
  if (!file) {
    if (file.error().text.empty() || file.error().log.empty())
      std::abort();
    return 0;
  }
  for (const Op &op : (*file)->ops()) {
    lower(op, {});
    lower(op, lastValues(op));
  }
  return 0;
}
