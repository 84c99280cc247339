// A CUDA driver for tests, the fake or a real one: the library that FUSEWRIGHT_CUDA_DRIVER names.
#pragma once

#include "tests/driver/fake/Control.h"
#include "tests/driver/fake/Extra.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace fw::driver {

/// Every function that the product and test programs call.
struct Cuda {
#define FW_CUDA(member, symbol, arguments) CUresult(*member) arguments = nullptr;
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
  static const Cuda &get(); ///< ends the program where there is no library
};

/// What fake/Control.h declares.
struct FakeControl {
#define FAKE_CUDA(result, name, arguments) result(*name) arguments = nullptr;
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA
  static const FakeControl *get(); ///< null: the driver is a real one
};

#define OK(call) ASSERT_EQ((call), Answer::SUCCESS)

/// The primary context of device 0 is current. Tests of this class hold for every CUDA driver;
/// those of FakeTest need the fake.
class CudaTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  CUdeviceptr allocate(size_t bytes);
  CUstream stream(unsigned flags = StreamFlag::NON_BLOCKING);
  CUevent event(unsigned flags = 0);
  std::vector<uint8_t> read(CUdeviceptr from, size_t bytes); ///< waits for everything

  const Cuda &cu = Cuda::get();
  CUcontext context = nullptr;
};

class FakeTest : public CudaTest {
protected:
  void SetUp() override;
  void TearDown() override;

  /// As in a new process with these devices; no context is current.
  void restart(const char *capabilities);
  CUcontext retain(CUdevice device); ///< a primary context, made current
  std::vector<uint8_t> peek(CUdeviceptr from, size_t bytes);
  fake_cuda_counts counts();

  const FakeControl &fake = *FakeControl::get();
};

} // namespace fw::driver
