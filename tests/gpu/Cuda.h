// The CUDA driver as tests use it: contexts, streams, graphs. Opened at run time, real or fake, by
// our own prototypes; the product's own ones are not trusted here.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <utility>

namespace cuda {

using Handle = void *; // of a context, stream, graph ...
using HostFunction = void (*)(void *);

enum : int { SUCCESS = 0, OUT_OF_MEMORY = 2, NO_BINARY_FOR_GPU = 209, NOT_READY = 600 };
enum : int { LAUNCH_FAILED = 719, CAPTURE_GLOBAL = 0, CAPTURE_THREAD = 1, CAPTURE_RELAXED = 2 };
enum : unsigned { NON_BLOCKING = 1 };

#define FW_TEST_CUDA_FUNCTIONS(X)                                                                  \
  X(cuInit, (unsigned flags))                                                                      \
  X(cuDeviceGet, (int *device, int ordinal))                                                       \
  X(cuDevicePrimaryCtxRetain, (Handle * context, int device))                                      \
  X(cuCtxCreate_v2, (Handle * context, unsigned flags, int device))                                \
  X(cuCtxDestroy_v2, (Handle context))                                                             \
  X(cuCtxSetCurrent, (Handle context))                                                             \
  X(cuCtxGetCurrent, (Handle * context))                                                           \
  X(cuCtxSynchronize, ())                                                                          \
  X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                              \
  X(cuMemFree_v2, (uint64_t address))                                                              \
  X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                                \
  X(cuMemFreeHost, (void *address))                                                                \
  X(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, Handle stream))                  \
  X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, Handle stream))            \
  X(cuMemsetD8Async, (uint64_t to, unsigned char value, size_t bytes, Handle stream))              \
  X(cuStreamCreate, (Handle * stream, unsigned flags))                                             \
  X(cuStreamDestroy_v2, (Handle stream))                                                           \
  X(cuStreamSynchronize, (Handle stream))                                                          \
  X(cuStreamQuery, (Handle stream))                                                                \
  X(cuStreamIsCapturing, (Handle stream, int *status))                                             \
  X(cuStreamBeginCapture_v2, (Handle stream, int mode))                                            \
  X(cuStreamEndCapture, (Handle stream, Handle * graph))                                           \
  X(cuLaunchHostFunc, (Handle stream, HostFunction function, void *data))                          \
  X(cuGraphGetNodes, (Handle graph, Handle * nodes, size_t *count))                                \
  X(cuGraphInstantiateWithFlags, (Handle * exec, Handle graph, unsigned long long flags))          \
  X(cuGraphLaunch, (Handle exec, Handle stream))                                                   \
  X(cuGraphExecDestroy, (Handle exec))                                                             \
  X(cuGraphDestroy, (Handle graph))

struct Api {
#define FW_TEST_MEMBER(name, arguments) int(*name) arguments = nullptr;
  FW_TEST_CUDA_FUNCTIONS(FW_TEST_MEMBER)
#undef FW_TEST_MEMBER
  void *library = nullptr;

  /// What is missing; empty: nothing.
  std::string open() {
    const char *path = std::getenv("FUSEWRIGHT_CUDA_DRIVER");
    library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
#define FW_TEST_RESOLVE(name, arguments)                                                           \
  if (!(name = reinterpret_cast<int(*) arguments>(dlsym(library, #name))))                         \
    return "no " #name " in the driver";
    FW_TEST_CUDA_FUNCTIONS(FW_TEST_RESOLVE)
#undef FW_TEST_RESOLVE
    return {};
  }
};

inline Api &api() {
  static Api opened;
  return opened;
}

#define EXPECT_CUDA(call) EXPECT_EQ(::cuda::api().call, ::cuda::SUCCESS) << #call

/// Of the current context.
class Stream {
public:
  explicit Stream(unsigned flags = NON_BLOCKING) { EXPECT_CUDA(cuStreamCreate(&handle, flags)); }
  Stream(const Stream &) = delete;
  ~Stream() { EXPECT_CUDA(cuStreamDestroy_v2(handle)); }
  operator Handle() const { return handle; }
  void synchronize() const { EXPECT_CUDA(cuStreamSynchronize(handle)); }
  bool isCapturing() const {
    int status = 0;
    EXPECT_CUDA(cuStreamIsCapturing(handle, &status));
    return status == 1;
  }

private:
  Handle handle = nullptr;
};

/// What `work` does to the stream, captured.
class Graph {
public:
  Graph(const Stream &stream, const std::function<void()> &work, int mode = CAPTURE_GLOBAL) {
    EXPECT_CUDA(cuStreamBeginCapture_v2(stream, mode));
    work();
    EXPECT_CUDA(cuStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  }
  Graph(const Graph &) = delete;
  ~Graph() {
    EXPECT_CUDA(cuGraphExecDestroy(exec));
    EXPECT_CUDA(cuGraphDestroy(graph));
  }
  size_t nodes() const {
    size_t count = 0;
    EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &count));
    return count;
  }
  void launch(const Stream &stream) const { EXPECT_CUDA(cuGraphLaunch(exec, stream)); }

private:
  Handle graph = nullptr, exec = nullptr;
};

/// Makes a context current and puts back what was.
class Current {
public:
  explicit Current(Handle context) {
    EXPECT_CUDA(cuCtxGetCurrent(&before));
    EXPECT_CUDA(cuCtxSetCurrent(context));
  }
  Current(const Current &) = delete;
  ~Current() { EXPECT_CUDA(cuCtxSetCurrent(before)); }

private:
  Handle before = nullptr;
};

} // namespace cuda
