// The emulator's kernels as twins that the fake driver finds by FAKE_CUDA_KERNELS.
#include "tests/driver/fake/Control.h"
#include "tests/emulator/Bundle.h"

#include <string>
#include <vector>

#define FW_ROW_BUNDLES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define FW_DECLARE(n) extern "C" const fw::emulator::BundledKernel fw_bundle_rows_##n[];
FW_ROW_BUNDLES(FW_DECLARE)
#undef FW_DECLARE

namespace {

using fw::emulator::BundledKernel;

const char *runTwin(const void *self, const fake_cuda_launch *launch) {
  thread_local std::string kept;
  const auto fault = fw::emulator::emulate(*static_cast<const BundledKernel *>(self), launch->grid,
                                           launch->parameters, launch->seed);
  kept = fault.value_or("");
  return fault ? kept.c_str() : nullptr;
}

std::vector<fake_cuda_kernel> makeTable() {
  std::vector<fake_cuda_kernel> table;
#define FW_ENTRY(n) fw_bundle_rows_##n,
  for (const BundledKernel *kernel : {FW_ROW_BUNDLES(FW_ENTRY)})
#undef FW_ENTRY
    for (; kernel->symbol; ++kernel)
      table.push_back({kernel->symbol, static_cast<unsigned>(kernel->threads),
                       kernel->parameterBytes, kernel, runTwin});
  table.push_back({});
  return table;
}

} // namespace

extern "C" FAKE_CUDA_EXPORT const fake_cuda_kernel *fake_cuda_bundle() {
  static const std::vector<fake_cuda_kernel> table = makeTable();
  return table.data();
}
