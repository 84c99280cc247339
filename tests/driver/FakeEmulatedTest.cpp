// The sample of skeleton `chunk`: launched through the driver, run by the emulator.
#include "templates/vocab/launch.h"
#include "tests/driver/Emulated.h"
#include "tests/driver/Images.h"

#include <string>

extern "C" const fw::emulator::BundledKernel fw_bundle_samples[];

namespace fw::driver {
namespace {

constexpr unsigned OPERANDS = 4, SLOTS = 7, COUNT = 10000;
using Launch = ElementsLaunch<OPERANDS, SLOTS, float>;

class FakeEmulated : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped())
      return;
    ASSERT_TRUE(registerEmulated(fake, kernel));
    ASSERT_EQ(kernel.parameterBytes, sizeof(Launch));
    CUlibrary library = nullptr;
    OK(cu.libraryLoadData(&library, cubin(90, {kernel.symbol}).data(), nullptr, nullptr, 0, nullptr,
                          nullptr, 0));
    OK(cu.libraryGetKernel(&handle, library, kernel.symbol));
    for (unsigned k = 0; k < OPERANDS; ++k) {
      operands[k] = allocate(COUNT * 4);
      OK(cu.memsetD8(operands[k], 0, COUNT * 4));
    }
  }

  /// All scalars 1 and all operands 0, so p = p - 1*(0/(0 + 1) + 1*p) is p - p.
  CUresult launch(uint64_t count) {
    Launch parameter{};
    parameter.policy = L2::NORMAL;
    parameter.segmentCount = 1;
    parameter.segments[0] = {count, 0, 0, 0, 0};
    for (unsigned k = 0; k < OPERANDS; ++k)
      parameter.addresses[0][k] = operands[k];
    std::fill_n(parameter.rows, SLOTS, 1.0f);
    void *parameters[] = {&parameter};
    const unsigned chunk = static_cast<unsigned>(kernel.chunk);
    return cu.launchKernel(
        reinterpret_cast<CUfunction>(handle), static_cast<unsigned>((count + chunk - 1) / chunk), 1,
        1, static_cast<unsigned>(kernel.threads), 1, 1, 0, nullptr, parameters, nullptr);
  }

  const emulator::BundledKernel &kernel = fw_bundle_samples[0]; // mutants follow
  CUkernel handle = nullptr;
  CUdeviceptr operands[OPERANDS] = {};
};

TEST_F(FakeEmulated, TheTextRuns) {
  const std::vector<float> ones(COUNT, 1.0f);
  OK(cu.memcpyHtoD(operands[0], ones.data(), COUNT * 4));
  OK(launch(COUNT));
  OK(cu.ctxSynchronize());
  std::vector<float> p(COUNT);
  OK(cu.memcpyDtoH(p.data(), operands[0], COUNT * 4));
  EXPECT_EQ(p, std::vector<float>(COUNT, 0.0f));
}

TEST_F(FakeEmulated, AddressesOutsideEndTheProgram) {
  OK(launch(COUNT + 1));
  EXPECT_DEATH(cu.ctxSynchronize(), "use-after-poison");
  fake.reset(); // here it still waits to run
}

TEST_F(FakeEmulated, SoDoThoseOfAnotherDevice) {
  CUcontext other = nullptr;
  OK(cu.ctxCreate(&other, 0, 0));
  operands[0] = allocate(COUNT * 4);
  OK(cu.ctxSetCurrent(context));
  OK(launch(COUNT));
  EXPECT_DEATH(cu.ctxSynchronize(), "use-after-poison");
  fake.reset();
}

TEST_F(FakeEmulated, AFaultOfTheEmulatorIsTold) {
  operands[0] += 4; // not where vectors may begin
  OK(launch(COUNT - 1));
  EXPECT_EQ(cu.ctxSynchronize(), Answer::LAUNCH_FAILED);
  const std::string text = fake.check();
  EXPECT_NE(text.find("which is not a multiple of 16"), text.npos) << text;
  fake.heal();
}

} // namespace
} // namespace fw::driver
