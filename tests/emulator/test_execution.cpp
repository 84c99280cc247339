// What the emulator does when a kernel is right: indices, barriers, warp operations, atomics,
// shared memory, and the orders that a seed picks.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "templates/vocab/shared.h"
#include "tests/emulator/KernelText.h"

namespace {

using fw::emulator::emulate;
using fw::emulator::Launch;

void writeIndices(unsigned *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      gridDim.x * 1000000 + blockIdx.x * 1000 + threadIdx.x;
}
TEST(Execution, EveryThreadRunsOnceWithItsIndices) {
  std::vector<unsigned> out(5 * 70, 0);
  ASSERT_EQ(emulate({.grid = 5, .threads = 70}, writeIndices, out.data()), std::nullopt);
  for (unsigned k = 0; k < out.size(); ++k)
    EXPECT_EQ(out[k], 5000000 + k / 70 * 1000 + k % 70);
}

struct Numbers {
  float values[256];
};
/// Tree sum through shared memory.
void sumBlock(const float *in, float *out) {
  Numbers &shared = fw::shared<Numbers>();
  shared.values[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      shared.values[threadIdx.x] += shared.values[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = shared.values[0];
}
TEST(Execution, BarriersOrderSharedMemory) {
  std::vector<float> in(4 * 256), out(4);
  for (unsigned k = 0; k < in.size(); ++k)
    in[k] = static_cast<float>(k % 256 + k / 256);
  for (uint64_t seed : {1, 2, 3, 4, 5}) {
    ASSERT_EQ(emulate({.grid = 4, .threads = 256, .seed = seed}, sumBlock, in.data(), out.data()),
              std::nullopt);
    for (int b = 0; b < 4; ++b)
      EXPECT_EQ(out[b], 255 * 256 / 2 + b * 256);
  }
}

/// The same without the barrier between the steps.
void sumBlockWithoutBarrier(const float *in, float *out) {
  Numbers &shared = fw::shared<Numbers>();
  shared.values[threadIdx.x] = in[threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2)
    if (threadIdx.x < half)
      shared.values[threadIdx.x] += shared.values[threadIdx.x + half];
  if (threadIdx.x == 0)
    out[0] = shared.values[0];
}
TEST(Execution, SharedMemoryStartsAsNaNSoADroppedBarrierShows) {
  std::vector<float> in(256, 1.0f), out(1);
  ASSERT_EQ(emulate({.threads = 256}, sumBlockWithoutBarrier, in.data(), out.data()), std::nullopt);
  EXPECT_TRUE(std::isnan(out[0]));
}

void halvesThroughNamedBarriers(int *out) {
  Numbers &shared = fw::shared<Numbers>();
  const unsigned half = threadIdx.x / 64;
  shared.values[threadIdx.x] = static_cast<float>(threadIdx.x);
  fw::barrier(1 + half, 64);
  out[threadIdx.x] = static_cast<int>(shared.values[half * 64 + 63 - threadIdx.x % 64]);
}
TEST(Execution, NamedBarriersJoinTheirOwnThreads) {
  std::vector<int> out(128);
  ASSERT_EQ(emulate({.threads = 128}, halvesThroughNamedBarriers, out.data()), std::nullopt);
  for (int k = 0; k < 128; ++k)
    EXPECT_EQ(out[k], k / 64 * 64 + 63 - k % 64);
}

void shuffles(float *sum, unsigned *up, unsigned *down, unsigned *first, double *wide) {
  const unsigned t = threadIdx.x, all = 0xFFFFFFFFu;
  float value = static_cast<float>(t);
  for (int with = 16; with > 0; with /= 2)
    value += __shfl_xor_sync(all, value, with);
  sum[t] = value;
  up[t] = __shfl_up_sync(all, t, 1);
  down[t] = __shfl_down_sync(all, t, 2, 8);
  first[t] = __shfl_sync(all, t, 3, 16);
  wide[t] = __shfl_xor_sync(all, 0.5 * t, 1);
}
TEST(Execution, ShufflesMoveValuesAsTheHardwareDoes) {
  std::vector<float> sum(64);
  std::vector<unsigned> up(64), down(64), first(64);
  std::vector<double> wide(64);
  ASSERT_EQ(emulate({.threads = 64}, shuffles, sum.data(), up.data(), down.data(), first.data(),
                    wide.data()),
            std::nullopt);
  for (unsigned t = 0; t < 64; ++t) {
    EXPECT_EQ(sum[t], t < 32 ? 496 : 496 + 1024);
    EXPECT_EQ(up[t], t % 32 == 0 ? t : t - 1);
    EXPECT_EQ(down[t], t % 8 < 6 ? t + 2 : t);
    EXPECT_EQ(first[t], t / 16 * 16 + 3);
    EXPECT_EQ(wide[t], 0.5 * (t ^ 1));
  }
}

void votes(unsigned *ballot, int *any, int *all) {
  const unsigned t = threadIdx.x, mask = t < 16 ? 0xFFFFu : 0xFFFF0000u;
  ballot[t] = __ballot_sync(mask, t % 3 == 0);
  any[t] = __any_sync(mask, t == 17);
  all[t] = __all_sync(mask, t >= 16);
}
TEST(Execution, VotesCountTheLanesOfTheirMask) {
  std::vector<unsigned> ballot(32);
  std::vector<int> any(32), all(32);
  ASSERT_EQ(emulate({.threads = 32}, votes, ballot.data(), any.data(), all.data()), std::nullopt);
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(ballot[t], 0x49249249u & (t < 16 ? 0xFFFFu : 0xFFFF0000u));
    EXPECT_EQ(any[t], t >= 16);
    EXPECT_EQ(all[t], t >= 16);
  }
}

struct Flag {
  bool last;
};
/// Each block leaves a partial; the one that draws the last ticket adds them in block order.
void sumInLastBlock(const float *in, float *partials, unsigned *ticket, float *out) {
  Flag &shared = fw::shared<Flag>();
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    shared.last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!shared.last || threadIdx.x != 0)
    return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b)
    sum += partials[b];
  *out = sum;
}
TEST(Execution, TheLastBlockSumsInFixedOrderWhateverTheSeed) {
  std::vector<float> in(100);
  for (unsigned k = 0; k < in.size(); ++k)
    in[k] = 1.0f / static_cast<float>(k + 1);
  float expected = 0;
  for (float x : in)
    expected += x;
  unsigned ticket = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<float> partials(100, NAN);
    float out = 0;
    ASSERT_EQ(emulate({.grid = 100, .threads = 32, .seed = seed, .resident = 7}, sumInLastBlock,
                      in.data(), partials.data(), &ticket, &out),
              std::nullopt);
    EXPECT_EQ(out, expected);
    EXPECT_EQ(ticket, 0u);
  }
}

/// Reads the partials before the ticket says that they are there.
void sumTooEarly(const float *in, float *partials, unsigned *ticket, float *out) {
  if (threadIdx.x != 0)
    return;
  partials[blockIdx.x] = in[blockIdx.x];
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b)
    sum += partials[b];
  if (atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1)
    *out = sum;
}
TEST(Execution, APartialReadBeforeItsTicketShowsUnderSomeSeed) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> in(8, 1.0f), partials(8, NAN);
    unsigned ticket = 0;
    float out = 0;
    // The block that draws the last ticket may have summed before another one stored.
    ASSERT_EQ(emulate({.grid = 8, .threads = 32, .seed = seed, .resident = 8}, sumTooEarly,
                      in.data(), partials.data(), &ticket, &out),
              std::nullopt);
    wrong += out != 8.0f;
  }
  EXPECT_GT(wrong, 0);
}

void append(std::vector<unsigned> *order) {
  if (threadIdx.x == 0)
    order->push_back(blockIdx.x);
}
TEST(Execution, TheSeedFixesTheOrderOfBlocks) {
  std::set<std::vector<unsigned>> orders;
  for (uint64_t seed : {1, 2, 3, 1}) {
    std::vector<unsigned> order;
    ASSERT_EQ(emulate({.grid = 9, .threads = 1, .seed = seed}, append, &order), std::nullopt);
    orders.insert(order);
    std::ranges::sort(order);
    for (unsigned b = 0; b < 9; ++b)
      EXPECT_EQ(order[b], b);
  }
  EXPECT_EQ(orders.size(), 3u);
}

/// Block 1 waits for what block 0 says.
void handshake(unsigned *flag) {
  if (blockIdx.x == 0)
    atomicExch(flag, 1u);
  else
    while (atomicAdd(flag, 0u) == 0)
      ;
}
TEST(Execution, ResidentBlocksTakeTurns) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    unsigned flag = 0;
    EXPECT_EQ(emulate({.grid = 2, .threads = 1, .seed = seed, .resident = 2}, handshake, &flag),
              std::nullopt);
  }
}

void atomics(unsigned *sum, float *total, unsigned *most, unsigned *claimed) {
  atomicAdd(sum, 1u);
  atomicAdd(total, 0.5f);
  atomicMax(most, threadIdx.x);
  if (atomicCAS(claimed, 0u, threadIdx.x + 1) == 0u)
    atomicAdd(claimed, 1000u);
}
TEST(Execution, AtomicsLoseNothing) {
  unsigned sum = 0, most = 0, claimed = 0;
  float total = 0;
  ASSERT_EQ(emulate({.grid = 3, .threads = 100}, atomics, &sum, &total, &most, &claimed),
            std::nullopt);
  EXPECT_EQ(sum, 300u);
  EXPECT_EQ(total, 150.0f);
  EXPECT_EQ(most, 99u);
  EXPECT_GT(claimed, 1000u);
  EXPECT_LE(claimed, 1100u);
}

} // namespace
