// The CUDA driver for benchmarks on a GPU, by own prototypes; any failure ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace bench::cuda {

using Handle = void *; // a context, stream, graph ...

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Handle function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters, **extra;
  Handle kernel, context;
};

#define FW_BENCH_CUDA(X)                                                                           \
  X(cuInit, (unsigned))                                                                            \
  X(cuDriverGetVersion, (int *))                                                                   \
  X(cuDeviceGetName, (char *, int, int))                                                           \
  X(cuDevicePrimaryCtxRetain, (Handle *, int))                                                     \
  X(cuCtxSetCurrent, (Handle))                                                                     \
  X(cuStreamCreate, (Handle *, unsigned))                                                          \
  X(cuStreamSynchronize, (Handle))                                                                 \
  X(cuStreamBeginCapture_v2, (Handle, int))                                                        \
  X(cuStreamEndCapture, (Handle, Handle *))                                                        \
  X(cuGraphGetNodes, (Handle, Handle *, size_t *))                                                 \
  X(cuGraphNodeGetType, (Handle, int *))                                                           \
  X(cuGraphKernelNodeGetParams_v2, (Handle, KernelNode *))                                         \
  X(cuGraphInstantiateWithFlags, (Handle *, Handle, unsigned long long))                           \
  X(cuGraphLaunch, (Handle, Handle))                                                               \
  X(cuLaunchKernel, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     Handle, void **, void **))

/// The functions, found once.
struct Api {
#define FW_BENCH_MEMBER(name, arguments) int(*name) arguments;
  FW_BENCH_CUDA(FW_BENCH_MEMBER)
#undef FW_BENCH_MEMBER

  Api() {
    const char *path = std::getenv("FUSEWRIGHT_CUDA_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
      std::fprintf(stderr, "error: expected a CUDA driver, got none: %s\n", dlerror());
      std::exit(4);
    }
#define FW_BENCH_FIND(name, arguments)                                                             \
  name = reinterpret_cast<int(*) arguments>(find(library, #name));
    FW_BENCH_CUDA(FW_BENCH_FIND)
#undef FW_BENCH_FIND
  }

private:
  static void *find(void *library, const char *name) {
    if (void *symbol = dlsym(library, name))
      return symbol;
    std::fprintf(stderr, "error: expected a CUDA 12 driver, got one without %s\n", name);
    std::exit(4);
  }
};

inline void check(int result, const char *call) {
  if (result == 0)
    return;
  std::fprintf(stderr, "error: %s: CUDA error %d\n", call, result);
  std::exit(4);
}

} // namespace bench::cuda

#define FW_BENCH_CHECK(call) ::bench::cuda::check(cu.call, #call)
