// gpu-suite [GoogleTest arguments]: the tests of plans and launches on a GPU.
// gpu-suite --compiles: compiles one program and prints the number of kernels that had to be
// compiled; FUSEWRIGHT_CACHE_DIR is where it looks first.
#include "tests/gpu/suite/Kernel.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::strcmp(argv[1], "--compiles") == 0) {
    if (!suite::Gpu::get().whyNot.empty())
      return 77;
    api::Context context = api::context();
    suite::makeKernel(context.get(), "adamw");
    std::printf("%llu\n", static_cast<unsigned long long>(
                              suite::FreshContext::countersOf(context.get()).compiles));
    return 0;
  }
  return RUN_ALL_TESTS();
}
