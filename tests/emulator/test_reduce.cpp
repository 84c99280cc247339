// Skeleton `norm_last_block` with its sample, against plain loops: exact where sums are, within
// their bound where they are not, and the same to the bit in every order of blocks; and mutants of
// the skeleton that must not pass.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/emulator/ReduceCase.h"
#include "tests/emulator/TailCase.h"

extern "C" const fw::emulator::BundledKernel fw_bundle_reduce_samples[];

namespace fw {
namespace {

using Numbers = ReduceCase::Numbers;
using Launches = std::vector<std::vector<ReduceCase::Shape>>;
constexpr size_t CHUNK = ReduceCase::CHUNK;
const emulator::BundledKernel &sample = fw_bundle_reduce_samples[0];

const Launches LISTS[] = {
    {{{1}}},
    {{{3}}},
    {{{4}}},
    {{{5}}},
    {{{2047}}},
    {{{CHUNK - 1}}},
    {{{CHUNK}}},
    {{{CHUNK + 1}}},
    {{{3 * CHUNK + 5}}},
    {{{100, 1}, {CHUNK + 7, 3}, {5, 2}, {2 * CHUNK + 9, 2}}},
    {{{0}, {10}, {0}}},
    {{{0}}},
    {{}},
    {{{9}, {4099, 1}}, {{0}, {64}}, {{CHUNK + 3, 2}, {1, 3}}},
    {{{700}}, {}, {{0}}},
};

std::string check(const emulator::BundledKernel &kernel, const Launches &lists, Numbers numbers,
                  Orders orders) {
  ReduceCase data(lists, numbers);
  std::string fault = data.run(kernel, orders);
  return fault.empty() ? data.compare() : fault;
}

TEST(Reduce, EqualsPlainLoops) {
  for (const Launches &lists : LISTS)
    for (u64 seed : {1, 2, 3}) {
      EXPECT_EQ(check(sample, lists, Numbers::WHOLE, {seed}), "") << &lists - LISTS;
      EXPECT_EQ(check(sample, lists, Numbers::REAL, {seed}), "") << &lists - LISTS;
    }
}

TEST(Reduce, ManyTensors) {
  // More entries than the block has threads, most of them empty and so without a block; some have
  // too many partials for one thread.
  std::vector<ReduceCase::Shape> shapes(600, {0});
  for (size_t k = 0; k < shapes.size(); k += 9)
    shapes[k] = {k * 37 % 300, k % 4};
  shapes[7].count = 71 * CHUNK;
  shapes[23].count = 66 * CHUNK; // the same warp's
  shapes[120].count = 2 * CHUNK + 1;
  EXPECT_EQ(check(sample, {shapes}, Numbers::WHOLE, {1}), "");
  EXPECT_EQ(check(sample, {shapes, {{12}}, shapes}, Numbers::REAL, {2, 5}), "");
}

TEST(Reduce, MorePartialsThanTheBlockTakesAtATime) {
  for (size_t others : {1, 511, 4096, 9000}) {
    ReduceCase data({{{CHUNK + 3}, {3}}});
    data.addPartials(others);
    ASSERT_EQ(data.run(sample), "");
    EXPECT_EQ(data.compare(), "") << others;
  }
}

TEST(Reduce, NothingGivesTheIdentities) {
  ReduceCase data({{{0}, {0}}});
  ASSERT_EQ(data.run(sample), "");
  EXPECT_EQ(*data.result(SUM_OF_SQUARES), 0);
  EXPECT_EQ(*data.result(SMALLEST), std::numeric_limits<double>::infinity());
  for (size_t entry : {0, 1}) {
    EXPECT_EQ(*data.result(SUM_OF_TENSOR, entry), 0);
    EXPECT_EQ(*data.result(LARGEST, entry), -std::numeric_limits<double>::infinity());
  }
}

TEST(Reduce, NanReachesWhatItsTensorIsIn) {
  for (size_t at : {size_t{0}, size_t{513}, 2 * CHUNK + 2}) { // a vector of each kind, and a tail
    ReduceCase data({{{2 * CHUNK + 3}, {50}}});
    data.p(0, at) = NAN;
    ASSERT_EQ(data.run(sample), "");
    EXPECT_EQ(data.compare(), "");
    EXPECT_TRUE(std::isnan(*data.result(SMALLEST)) && std::isnan(*data.result(LARGEST, 0)));
    EXPECT_TRUE(std::isfinite(*data.result(SUM_OF_SQUARES)));
    EXPECT_TRUE(std::isfinite(*data.result(LARGEST, 1)));
  }
}

TEST(Reduce, InfinitiesStay) {
  ReduceCase data({{{CHUNK + 3}, {50}}});
  data.p(1, 49) = -INFINITY;
  data.g(0, 5).bits = Codec<bf16>::encode(INFINITY);
  ASSERT_EQ(data.run(sample), "");
  EXPECT_EQ(data.compare(), "");
  EXPECT_EQ(*data.result(SMALLEST), -INFINITY);
  EXPECT_EQ(*data.result(LARGEST, 1), INFINITY);
  EXPECT_EQ(*data.result(SUM_OF_SQUARES), INFINITY);
}

TEST(Reduce, OrdersOfBlocksGiveTheSameBits) {
  const Launches lists = {{{9 * CHUNK + 5}, {100, 1}, {3 * CHUNK, 2}}, {{5 * CHUNK + 1}, {77}}};
  ReduceCase first(lists, Numbers::REAL);
  ASSERT_EQ(first.run(sample), "");
  for (u64 seed = 2; seed < 12; ++seed) {
    ReduceCase other(lists, Numbers::REAL);
    ASSERT_EQ(other.run(sample, {seed, static_cast<unsigned>(1 + seed % 5)}), "");
    EXPECT_EQ(memcmp(other.allResults().data(), first.allResults().data(),
                     first.allResults().size() * sizeof(double)),
              0)
        << seed;
  }
}

TEST(Reduce, RunsFollowEachOther) {
  ReduceCase data({{{3 * CHUNK + 1}, {8}}});
  for (u64 seed = 1; seed < 5; ++seed) {
    ASSERT_EQ(data.run(sample, {seed, 3}), "");
    EXPECT_EQ(data.compare(), "");
  }
}

// --- The scalar programs behind -----------------------------------------------------------------

TEST(ReduceTail, TablesAreThoseOfTheHost) {
  for (bool overflows : {false, true})
    for (u64 seed : {1, 2, 3}) {
      TailCase data({{{9}, {4099, 1}}, {{0}, {64}, {CHUNK + 3, 2}}}, overflows);
      EXPECT_EQ(data.check(sample, {seed, 3}), "") << overflows;
    }
}

TEST(ReduceTail, MoreRowsThanTheSharedMemoryHolds) {
  const std::vector<ReduceCase::Shape> shapes(300, {5});
  for (bool overflows : {false, true}) {
    TailCase data({shapes, {{7}}}, overflows);
    EXPECT_EQ(data.check(sample, {}), "") << overflows;
  }
}

// --- Mutants ------------------------------------------------------------------------------------

std::string checkAll(const emulator::BundledKernel &kernel) {
  const Launches lists[] = {{{{2 * CHUNK + 7, 2}, {CHUNK + 2}, {3, 1}, {0}, {CHUNK}}},
                            {{{CHUNK + 5}, {CHUNK}}, {{100, 2}, {600, 1}}}};
  for (u64 seed = 1; seed <= 6; ++seed)
    for (const Launches &list : lists) {
      TailCase data(list, seed % 2 == 0);
      if (std::string found = data.check(kernel, {seed, 4}); !found.empty())
        return found;
    }
  ReduceCase data({{{3}}});
  data.addPartials(4000);
  if (std::string fault = data.run(kernel); !fault.empty())
    return fault;
  if (std::string wrong = data.compare(); !wrong.empty())
    return wrong;
  std::vector<ReduceCase::Shape> many(530, {0});
  many[3].count = many[19].count = 66 * CHUNK;
  many[40].count = 12 * CHUNK;
  many[529].count = 20;
  return TailCase({many}, false).check(kernel, {});
}

TEST(Reduce, EveryMutantIsCaught) {
  ASSERT_EQ(checkAll(sample), "");
  int mutants = 0;
  for (const auto *kernel = fw_bundle_reduce_samples + 1; kernel->symbol; ++kernel, ++mutants)
    EXPECT_NE(checkAll(*kernel), "") << kernel->file << " passes";
  EXPECT_EQ(mutants, 32);
}

TEST(Reduce, TheHostFindsEveryMember) {
  using Parameter = ReduceLaunch<2, 1, float>;
  EXPECT_EQ(sample.parameterBytes, sizeof(Parameter));
  const ReduceLayout layout(2, 1, sizeof(float));
  const Parameter launch = {};
  const auto at = [&](const auto &member) {
    return static_cast<size_t>(reinterpret_cast<const char *>(&member) -
                               reinterpret_cast<const char *>(&launch));
  };
  EXPECT_EQ(at(launch.pointers), layout.pointers);
  EXPECT_EQ(at(launch.scalars), layout.scalars);
  EXPECT_EQ(at(launch.policy), layout.policy);
  EXPECT_EQ(at(launch.perEntry), layout.perEntry);
  EXPECT_EQ(at(launch.tail), layout.tail);
  EXPECT_EQ(at(launch.rows), layout.rows);
  EXPECT_EQ(sizeof(launch), layout.bytes);
  EXPECT_EQ(sizeof(ReduceLaunch<3, 0, double>), ReduceLayout(3, 0, 8).bytes);
  EXPECT_EQ(sizeof(ReduceLaunch<1, 9, float>), ReduceLayout(1, 9, 4).bytes);
  EXPECT_EQ(sizeof(ReduceLaunch<40, 100, double>), ReduceLayout(40, 100, 8).bytes);
  EXPECT_LE(sizeof(ReduceLaunch<40, 100, double>), PARAMETER_BYTES);
}

} // namespace
} // namespace fw
