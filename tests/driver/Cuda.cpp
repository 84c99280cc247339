#include "tests/driver/Cuda.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace fw::driver {
namespace {

void *library() {
  static void *const library = [] {
    const char *file = getenv("FUSEWRIGHT_CUDA_DRIVER");
    void *opened = dlopen(file ? file : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      fprintf(stderr, "expected FUSEWRIGHT_CUDA_DRIVER to name a CUDA driver: %s\n", dlerror()),
          exit(1);
    return opened;
  }();
  return library;
}

template <class T> void find(T &function, const char *symbol) {
  function = reinterpret_cast<T>(dlsym(library(), symbol));
}

} // namespace

const Cuda &Cuda::get() {
  static const Cuda cuda = [] {
    Cuda found;
#define FW_CUDA(member, symbol, arguments) find(found.member, #symbol);
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
    return found;
  }();
  return cuda;
}

const FakeControl *FakeControl::get() {
  static const FakeControl control = [] {
    FakeControl found;
#define FAKE_CUDA(result, name, arguments) find(found.name, "fake_cuda_" #name);
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA
    return found;
  }();
  return control.reset ? &control : nullptr;
}

void CudaTest::SetUp() {
  if (const FakeControl *fake = FakeControl::get())
    fake->reset();
  OK(cu.init(0));
  OK(cu.primaryCtxRetain(&context, 0));
  OK(cu.ctxPushCurrent(context));
}

/// A real context takes its streams and memory with it.
void CudaTest::TearDown() {
  if (const FakeControl *fake = FakeControl::get()) {
    const char *violations = fake->check();
    EXPECT_STREQ(violations ? violations : "", "");
  }
  CUcontext popped = nullptr;
  cu.ctxPopCurrent(&popped);
  cu.primaryCtxRelease(0);
}

CUdeviceptr CudaTest::allocate(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cu.memAlloc(&address, bytes), Answer::SUCCESS);
  return address;
}

CUstream CudaTest::stream(unsigned flags) {
  CUstream made = nullptr;
  EXPECT_EQ(cu.streamCreate(&made, flags), Answer::SUCCESS);
  return made;
}

CUevent CudaTest::event(unsigned flags) {
  CUevent made = nullptr;
  EXPECT_EQ(cu.eventCreate(&made, flags), Answer::SUCCESS);
  return made;
}

std::vector<uint8_t> CudaTest::read(CUdeviceptr from, size_t bytes) {
  std::vector<uint8_t> to(bytes);
  EXPECT_EQ(cu.ctxSynchronize(), Answer::SUCCESS);
  EXPECT_EQ(cu.memcpyDtoH(to.data(), from, bytes), Answer::SUCCESS);
  return to;
}

void FakeTest::SetUp() {
  if (!FakeControl::get())
    GTEST_SKIP() << "the driver under test is a real one";
  CudaTest::SetUp();
  fake.forget_kernels();
  fake.forget_calls();
}

void FakeTest::TearDown() {
  if (FakeControl::get())
    CudaTest::TearDown();
}

void FakeTest::restart(const char *capabilities) {
  fake.reset();
  fake.devices(capabilities);
  OK(cu.init(0));
}

CUcontext FakeTest::retain(CUdevice device) {
  CUcontext made = nullptr;
  EXPECT_EQ(cu.primaryCtxRetain(&made, device), Answer::SUCCESS);
  EXPECT_EQ(cu.ctxSetCurrent(made), Answer::SUCCESS);
  return made;
}

std::vector<uint8_t> FakeTest::peek(CUdeviceptr from, size_t bytes) {
  std::vector<uint8_t> to(bytes);
  EXPECT_EQ(fake.peek(from, to.data(), bytes), 1);
  return to;
}

fake_cuda_counts FakeTest::counts() {
  fake_cuda_counts counts;
  fake.counts_now(&counts);
  return counts;
}

} // namespace fw::driver
