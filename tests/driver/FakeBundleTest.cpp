// Kernels that cuInit takes from the shared objects of FAKE_CUDA_KERNELS.
#include "tests/driver/Cuda.h"
#include "tests/driver/Images.h"

#include <cstdlib>

namespace fw::driver {
namespace {

using FakeBundle = FakeTest;

TEST_F(FakeBundle, IsLoadedByInit) {
  restart("9.0"); // SetUp has forgotten the kernels
  retain(0);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const CUdeviceptr data = allocate(12);
  CUdeviceptr parameter = data;
  void *parameters[] = {&parameter};
  OK(cu.libraryLoadData(&library, cubin(90, {"from_a_file"}).data(), nullptr, nullptr, 0, nullptr,
                        nullptr, 0));
  OK(cu.libraryGetKernel(&kernel, library, "from_a_file"));
  OK(cu.launchKernel(reinterpret_cast<CUfunction>(kernel), 3, 1, 1, 1, 1, 1, 0, nullptr, parameters,
                     nullptr));
  OK(cu.ctxSynchronize());
  std::vector<int> numbers(3);
  ASSERT_EQ(fake.peek(data, numbers.data(), 12), 1);
  EXPECT_EQ(numbers, std::vector<int>(3, 77));
}

TEST_F(FakeBundle, AMissingFileIsAnErrorOfInit) {
  const std::string files = getenv("FAKE_CUDA_KERNELS");
  setenv("FAKE_CUDA_KERNELS", "no-such-file.so", 1);
  fake.reset();
  EXPECT_EQ(cu.init(0), Answer::SHARED_OBJECT_INIT_FAILED);
  setenv("FAKE_CUDA_KERNELS", files.c_str(), 1);
}

} // namespace
} // namespace fw::driver
