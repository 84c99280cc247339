// Memory: bounds, guards, limits.
#include "tests/driver/Cuda.h"

#include <thread>

namespace fw::driver {
namespace {

using CudaMemory = CudaTest;
using FakeMemory = FakeTest;
using Bytes = std::vector<uint8_t>;

TEST_F(CudaMemory, AddressesAreAligned) {
  for (size_t bytes : {1, 3, 257, 4096})
    EXPECT_EQ(allocate(bytes) % 256, 0u);
  CUdeviceptr address = 0;
  EXPECT_EQ(cu.memAlloc(&address, 0), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memAlloc(&address, size_t{1} << 60), Answer::OUT_OF_MEMORY);
}

TEST_F(CudaMemory, IsFreedOnce) {
  const CUdeviceptr address = allocate(1024);
  OK(cu.memFree(address));
  EXPECT_EQ(cu.memFree(address), Answer::INVALID_VALUE);
  int local = 0;
  EXPECT_EQ(cu.memFree(reinterpret_cast<CUdeviceptr>(&local)), Answer::INVALID_VALUE);
}

TEST_F(FakeMemory, CopiesStayInside) {
  const CUdeviceptr address = allocate(100), other = allocate(100);
  Bytes host(200);
  EXPECT_EQ(cu.memcpyHtoD(address, host.data(), 101), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoD(address + 60, host.data(), 41), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoD(address - 1, host.data(), 2), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyDtoH(host.data(), address + 100, 1), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyDtoDAsync(address, other + 1, 100, nullptr), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memsetD8Async(address, 0, 101, nullptr), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyHtoD(address, reinterpret_cast<void *>(other), 8), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memcpyDtoH(host.data(), reinterpret_cast<CUdeviceptr>(host.data()), 8),
            Answer::INVALID_VALUE);
  EXPECT_EQ(cu.memFree(address + 4), Answer::INVALID_VALUE);
  OK(cu.memcpyHtoD(address + 60, host.data(), 40));
}

TEST_F(CudaMemory, CopiesRoundTrip) {
  const CUdeviceptr first = allocate(1000), second = allocate(1000);
  Bytes out(1000), in(1000);
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = uint8_t(k * 7);
  OK(cu.memcpyHtoD(first, out.data(), 1000));
  OK(cu.memcpyDtoDAsync(second + 8, first, 992, nullptr));
  OK(cu.memsetD8Async(second, 0xAB, 8, nullptr));
  OK(cu.memcpyDtoH(in.data(), second, 1000));
  EXPECT_EQ(Bytes(in.begin(), in.begin() + 8), Bytes(8, 0xAB));
  EXPECT_EQ(Bytes(in.begin() + 8, in.end()), Bytes(out.begin(), out.end() - 8));
}

TEST_F(FakeMemory, NewMemoryIsNaN) { EXPECT_EQ(peek(allocate(64), 64), Bytes(64, 0xFF)); }

/// What a host twin of a kernel with a wrong bound would do.
const char *writeBehind(const void *self, const fake_cuda_launch *) {
  // volatile keeps compilers from telling; the guard itself is what is under test
  auto *end = *static_cast<volatile uint8_t *const *>(self);
  *end = 1;
  return nullptr;
}

TEST_F(FakeMemory, GuardsAreWatched) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer is faster than the guards: see IsForbiddenToTheHost";
#endif
#endif
  for (int offset : {-1, 100, 300}) {
    const CUdeviceptr address = allocate(100);
    auto *outside = reinterpret_cast<volatile uint8_t *>(address) + offset;
    writeBehind(&outside, nullptr);
    ASSERT_STREQ(fake.check(), "something wrote outside an allocation of 100 bytes");
    fake.heal();
    EXPECT_EQ(fake.check(), nullptr);
    *outside = 2;
    OK(cu.memFree(address));
    ASSERT_STREQ(fake.check(), "something wrote outside an allocation of 100 bytes");
    fake.heal();
  }
}

TEST_F(FakeMemory, IsForbiddenToTheHost) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  const auto *place = reinterpret_cast<const volatile uint8_t *>(allocate(100));
  EXPECT_DEATH((void)*place, "use-after-poison");
  EXPECT_DEATH((void)place[100], "use-after-poison");
  return;
#endif
#endif
  GTEST_SKIP() << "only AddressSanitizer sees a host that reads device memory";
}

TEST_F(FakeMemory, HasLimits) {
  fake.memory(10000);
  const CUdeviceptr first = allocate(6000), second = allocate(4000);
  CUdeviceptr third = 1;
  EXPECT_EQ(cu.memAlloc(&third, 1), Answer::OUT_OF_MEMORY);
  EXPECT_EQ(fake.bytes(0), 10000u);
  OK(cu.memFree(first));
  OK(cu.memFree(second));
  allocate(7000);
  EXPECT_EQ(fake.bytes(0), 7000u);
  EXPECT_EQ(fake.peak_bytes(0), 10000u);
}

TEST_F(FakeMemory, TheNthAllocationFails) {
  CUdeviceptr address = 0;
  ASSERT_EQ(fake.fail("cuMemAlloc_v2", 2, Answer::OUT_OF_MEMORY), 1);
  OK(cu.memAlloc(&address, 16));
  EXPECT_EQ(cu.memAlloc(&address, 16), Answer::OUT_OF_MEMORY);
  OK(cu.memAlloc(&address, 16));
  EXPECT_EQ(fake.fail("cuMemAllocNoSuch", 1, 2), 0);
}

TEST_F(CudaMemory, PageLockedMemoryIsKnown) {
  void *host = nullptr;
  OK(cu.memHostAlloc(&host, 4096, 0));
  const CUdeviceptr device = allocate(4096);
  unsigned type = 0;
  CUcontext owner = nullptr;
  const auto hostAddress = reinterpret_cast<CUdeviceptr>(host);
  OK(cu.pointerGetAttribute(&type, PointerAttribute::MEMORY_TYPE, hostAddress));
  EXPECT_EQ(type, MemoryType::HOST);
  OK(cu.pointerGetAttribute(&type, PointerAttribute::MEMORY_TYPE, device + 100));
  EXPECT_EQ(type, MemoryType::DEVICE);
  OK(cu.pointerGetAttribute(&owner, PointerAttribute::CONTEXT, device));
  EXPECT_EQ(owner, context);
  int local = 0;
  EXPECT_EQ(cu.pointerGetAttribute(&type, PointerAttribute::MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(&local)),
            Answer::INVALID_VALUE);
  memset(host, 0x5A, 4096);
  OK(cu.memcpyHtoD(device, host, 4096));
  EXPECT_EQ(read(device, 4096), Bytes(4096, 0x5A));
  OK(cu.memFreeHost(host));
}

TEST_F(FakeMemory, AFreeWaitsForItsContext) {
  const CUdeviceptr source = allocate(64), used = allocate(64);
  const CUstream queue = stream();
  OK(cu.memsetD8Async(used, 3, 64, queue));
  EXPECT_EQ(fake.pending(), 1u);
  OK(cu.memFree(source));
  EXPECT_EQ(fake.pending(), 0u);
  EXPECT_EQ(peek(used, 64), Bytes(64, 3));
}

} // namespace
} // namespace fw::driver
