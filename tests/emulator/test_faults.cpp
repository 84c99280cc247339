// What the emulator says when a kernel is wrong.
#include <gtest/gtest.h>

#include "templates/vocab/memory.h"
#include "tests/emulator/KernelText.h"

namespace {

using fw::emulator::emulate;

/// The fault, which must have ended the launch.
template <class... P, class... A>
std::string faultOf(unsigned threads, void (*kernel)(P...), A... arguments) {
  return emulate({.threads = threads}, kernel, arguments...).value_or("no fault");
}

void returnBeforeBarrier() {
  if (threadIdx.x >= 40)
    return;
  __syncthreads();
}
TEST(Faults, AThreadThatReturnsWhileOthersWait) {
  const std::string expected =
      "block 0 is stuck: 40 threads at a barrier (first: thread 0, barrier 0, line " +
      std::to_string(__LINE__ - 5) + "), 24 threads returned (first: thread 40)";
  EXPECT_EQ(faultOf(64, returnBeforeBarrier), expected);
}

void shuffleInBranch(unsigned *out) {
  if (threadIdx.x < 7)
    out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 1);
}
TEST(Faults, AFullMaskInADivergentBranch) {
  unsigned out[32] = {};
  const std::string fault = faultOf(32, shuffleInBranch, out);
  EXPECT_NE(fault.find("block 0 is stuck: 7 threads at a warp operation (first: thread 0, line"),
            std::string::npos)
      << fault;
  EXPECT_NE(fault.find("25 threads returned (first: thread 7)"), std::string::npos) << fault;
}

void shuffleAgainstBarrier(unsigned *out) {
  if (threadIdx.x == 0)
    __syncthreads();
  else
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, threadIdx.x, 0);
}
TEST(Faults, AWarpWhoseLaneWaitsElsewhere) {
  unsigned out[32] = {};
  const std::string fault = faultOf(32, shuffleAgainstBarrier, out);
  EXPECT_NE(fault.find("1 threads at a barrier (first: thread 0"), std::string::npos) << fault;
  EXPECT_NE(fault.find("31 threads at a warp operation (first: thread 1, line"), std::string::npos)
      << fault;
}

void differentMasks() { __ballot_sync(threadIdx.x % 2 ? 0xFFFFFFFFu : 0x55555555u, 1); }
TEST(Faults, LanesThatDisagreeAboutTheMask) {
  const std::string fault = faultOf(32, differentMasks);
  EXPECT_NE(fault.find("meets lane"), std::string::npos) << fault;
}

void foreignMask() { __ballot_sync(0x2u << (threadIdx.x & 1), 1); }
TEST(Faults, ALaneOutsideItsOwnMask) {
  const std::string fault = faultOf(2, foreignMask);
  EXPECT_NE(fault.find("its own lane is missing in the mask"), std::string::npos) << fault;
}

void readAbsentLane() { __shfl_sync(threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u, 1, 20); }
TEST(Faults, AShuffleFromALaneThatTakesNoPart) {
  const std::string fault = faultOf(32, readAbsentLane);
  EXPECT_NE(fault.find("reads lane 20, which takes no part"), std::string::npos) << fault;
}

template <int W> void loadAt(const float *base, fw::u64 i) {
  fw::Raw<float, W> raw;
  fw::load<W>(raw, base, i, 0);
}

TEST(Faults, AnAccessOffItsBoundary) {
  alignas(16) float data[16] = {};
  EXPECT_EQ(faultOf(1, loadAt<4>, data, 4), "no fault");
  EXPECT_EQ(faultOf(1, loadAt<1>, data, 3), "no fault");
  EXPECT_EQ(faultOf(1, loadAt<2>, data, 6), "no fault");
  char expected[128];
  snprintf(expected, sizeof(expected),
           "block 0, thread 0: load of 16 bytes at %p, which is not a multiple of 16",
           static_cast<void *>(data + 2));
  EXPECT_EQ(faultOf(1, loadAt<4>, data, 2), expected);
  EXPECT_NE(faultOf(1, loadAt<2>, data, 5), "no fault");
}

void barrierOutOfRange() { fw::emulator::barrier(16, 32, 1); }
TEST(Faults, ABarrierThatTheHardwareDoesNotHave) {
  EXPECT_EQ(faultOf(1, barrierOutOfRange),
            "block 0, thread 0: expected a barrier below 16, got 16");
}

void waitForever() { __syncthreads(); }
TEST(Faults, OtherLaunchesGoOnAfterAFault) {
  EXPECT_NE(faultOf(64, returnBeforeBarrier), "no fault");
  EXPECT_EQ(faultOf(64, waitForever), "no fault");
}

} // namespace
