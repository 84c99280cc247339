// Compiles one kernel with the NVRTC given: a process that has not loaded another one's builtins
// (case_P03).
#include "compiler/jit/Nvrtc.h"

#include <cstdio>

namespace {

int fail(const fw::Error &error) {
  std::printf("%s\n%s\n", render(error).c_str(), error.log.c_str());
  return int(error.code);
}

} // namespace

int main(int count, char **arguments) {
  using namespace fw::jit;
  Settings settings;
  if (count != 2 || !settings.set(Knob::nvrtc, arguments[1]))
    return int(fw::Code::USAGE);
  fw::Result<std::shared_ptr<const Nvrtc>> nvrtc = Nvrtc::open(settings);
  if (!nvrtc)
    return fail(nvrtc.error());
  fw::Result<CompiledKernel> kernel =
      (*nvrtc)->compile("__global__ void k() {}", "k.cu", "sm_90", (*nvrtc)->flags());
  return kernel ? 0 : fail(kernel.error());
}
