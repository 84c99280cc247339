// The kernels of the suite as host code, for the fake driver: a library of its own, found by the
// setting FW_GPU_TWINS.
#include "tests/driver/fake/Control.h"
#include "tests/emulator/Bundle.h"
#include "tests/gpu/suite/TwinNames.h"

#include "templates/vocab/scalars_launch.h"

#include <cstring>
#include <list>
#include <string>

#define FW_SUITE_BUNDLES(X) X(0) X(1) X(2) X(3)

#define FW_DECLARE(n) extern "C" const fw::emulator::BundledKernel fw_bundle_suite_##n[];
FW_SUITE_BUNDLES(FW_DECLARE)
#undef FW_DECLARE

extern "C" void fw_scalars(const fw::ScalarsLaunch launch);

namespace {

using fw::emulator::BundledKernel;

const char *keep(const std::optional<std::string> &fault) {
  static thread_local std::string kept;
  kept = fault.value_or("");
  return fault ? kept.c_str() : nullptr;
}

const char *runTwin(const void *self, const fake_cuda_launch *launch) {
  return keep(fw::emulator::emulate(*static_cast<const BundledKernel *>(self), launch->grid,
                                    launch->parameters, launch->seed));
}

const char *runScalars(const void *, const fake_cuda_launch *launch) {
  fw::ScalarsLaunch copy;
  std::memcpy(&copy, launch->parameters, sizeof copy);
  return keep(
      fw::emulator::run({.grid = launch->grid, .threads = launch->threads, .seed = launch->seed},
                        [&] { fw_scalars(copy); }));
}

const fake_cuda_kernel scalarsTwin = {"fw_scalars", fw::ScalarsLaunch::THREADS,
                                      sizeof(fw::ScalarsLaunch), nullptr, runScalars};

const BundledKernel *findFile(const char *file) {
#define FW_ENTRY(n) fw_bundle_suite_##n,
  for (const BundledKernel *kernel : {FW_SUITE_BUNDLES(FW_ENTRY)})
    for (; kernel->symbol; ++kernel)
      if (std::strcmp(kernel->file, file) == 0)
        return kernel;
#undef FW_ENTRY
  return nullptr;
}

} // namespace

/// The twin of kernel `index` of a program for a target; null: it has fewer. Valid as long as the
/// process.
extern "C" FAKE_CUDA_EXPORT const fake_cuda_kernel *fw_gpu_twin(const char *program,
                                                                const char *target, size_t index) {
  static std::list<fake_cuda_kernel> made;
  if (std::strcmp(program, scalarsTwin.symbol) == 0)
    return index == 0 ? &scalarsTwin : nullptr;
  for (const TwinName *name = twinNames; name->program; ++name)
    if (std::strcmp(name->program, program) == 0 && std::strcmp(name->target, target) == 0 &&
        index-- == 0)
      if (const BundledKernel *kernel = findFile(name->file)) {
        made.push_back(
            {kernel->symbol, unsigned(kernel->threads), kernel->parameterBytes, kernel, runTwin});
        return &made.back();
      }
  return nullptr;
}
