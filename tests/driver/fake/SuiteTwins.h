// The twins of the suite's library FW_GPU_TWINS, for libraries of kernels that take some of them.
#pragma once

#include "tests/driver/fake/Control.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace fw::driver::fake {

/// Kernel `index` of a program for an arch; null behind the last one.
using FindTwin = const fake_cuda_kernel *(const char *program, const char *target, size_t index);

inline FindTwin *openTwins() {
  const char *path = std::getenv("FW_GPU_TWINS");
  void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
  auto *find = library ? reinterpret_cast<FindTwin *>(dlsym(library, "fw_gpu_twin")) : nullptr;
  if (!find) {
    std::fprintf(stderr, "expected FW_GPU_TWINS, the suite's library of twins, got %s\n",
                 path ? path : "nothing");
    std::exit(1);
  }
  return find;
}

} // namespace fw::driver::fake
