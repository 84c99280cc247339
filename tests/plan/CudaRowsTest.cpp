// What launches over rows give their kernels: a twin keeps the parameters of each launch.
#include "runtime/plan/CudaRows.h"
#include "runtime/plan/CudaLaunch.h"

#include "tests/driver/Cuda.h"
#include "tests/driver/Images.h"

#include "templates/vocab/rows_launch.h"

#include <cstdlib>

namespace fw::plan {
namespace {

constexpr unsigned threads = 64;
constexpr uint64_t rowsPerBlock = 8;
using Launch = RowsLaunch<2, 1, 3, float>;

struct Kept {
  Launch launch;
  unsigned grid;
};

const char *keep(const void *self, const fake_cuda_launch *launch) {
  auto &all = **static_cast<std::vector<Kept> *const *>(self);
  all.push_back({*static_cast<const Launch *>(launch->parameters), launch->grid});
  return nullptr;
}

class CudaRows : public driver::FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped())
      return;
    fake.launch_nothing(0);
    fake.forget_kernels();
    const fake_cuda_kernel twin = {"rows", threads, sizeof(Launch), &keptAt, keep};
    ASSERT_EQ(fake.register_kernel(&twin), 1);
    auto opened = driver::Driver::open(std::getenv("FUSEWRIGHT_CUDA_DRIVER"));
    ASSERT_TRUE(opened) << render(opened.error());
    world.driver = *opened;
    world.modules = &counters[0];
    world.launches = &counters[1];
    program.header = {.axes = {"row", "column"}, .isRows = true};
    for (const char *name : {"x", "unused", "y"})
      program.operands.push_back({.name = name,
                                  .dtype = "f32",
                                  .bytes = 4,
                                  .read = name[0] == 'x',
                                  .written = name[0] == 'y',
                                  .axes = program.header.axes});
    program.hypers = {{.name = "scale", .fallback = 2}};
    // The scale, the length of the row, and the number of the entry.
    using Kind = jit::ScalarInput::Kind;
    auto &scalars = program.stages.emplace_back().scalars;
    scalars.inputs = {{Kind::Hyper, 0}, {Kind::AxisSize, 1}, {Kind::TensorIndex, 0}};
    scalars.slots = {0, 1, 2};
    program.stages.front().kernel = {.operands = {0, 2}, .slots = 3};
    kernel.operands = {0, 2};
    kernel.bytes = {4, 4};
    kernel.threads = threads;
    kernel.rowsPerBlock = rowsPerBlock;
    kernel.axes = 1;
    kernel.slots = 3;
  }

  /// Dense tensors of so many rows each, far apart; the twin only looks at addresses.
  Result<void> launch(const std::vector<int64_t> &rowCounts, int64_t columns = 8,
                      uint64_t bytes = 100, std::vector<double> scales = {}) {
    std::vector<std::array<int64_t, 2>> shapes;
    for (int64_t rows : rowCounts)
      shapes.push_back({rows, columns});
    std::vector<fw_tensor> tensors;
    for (size_t i = 0; i < shapes.size() * 3; ++i) {
      fw_tensor tensor = {};
      tensor.struct_size = sizeof tensor;
      tensor.device = FW_DEVICE_CUDA;
      tensor.rank = 2;
      tensor.dtype = "f32";
      tensor.data = reinterpret_cast<void *>(addressOf(i / 3, i % 3));
      tensor.shape = shapes[i / 3].data();
      tensors.push_back(tensor);
    }
    fw_scalar scale = {sizeof(fw_scalar), 0, "scale", 0, scales.data(), scales.size()};
    auto input = launch::readRows(program, {tensors.data(), tensors.size()},
                                  {&scale, size_t(!scales.empty())}, {FW_DEVICE_CUDA, 0});
    EXPECT_TRUE(input) << render(input.error());
    std::vector<RowsWork> works;
    for (const launch::RowEntry &entry : input->entries) {
      auto grid = launch::gridOf(program, entry);
      EXPECT_TRUE(grid);
      works.push_back({&entry, std::move(*grid)});
    }
    Result<void> done = launchRows(world, program, kernel, works, input->scalars, bytes, nullptr);
    EXPECT_EQ(cu.ctxSynchronize(), driver::Cu::SUCCESS);
    return done;
  }
  static uint64_t addressOf(size_t entry, size_t operand) {
    return (uint64_t(1) << 44) * (operand + 1) + (uint64_t(1) << 30) * entry;
  }

  std::vector<Kept> kept;
  std::vector<Kept> *keptAt = &kept;
  std::atomic<uint64_t> counters[2] = {};
  DeviceWorld world;
  launch::Program program;
  const std::string image = driver::cubin(90, {"rows"});
  CudaKernel kernel{image, "rows"};
};

TEST_F(CudaRows, a_record_has_the_places_and_the_first_block_of_each_tensor) {
  ASSERT_TRUE(launch({17, 8, 1}));
  ASSERT_EQ(kept.size(), 1u);
  const Launch &given = kept[0].launch;
  EXPECT_EQ(kept[0].grid, 5u);
  EXPECT_EQ(given.columns, 8u);
  EXPECT_EQ(given.scalars, nullptr);
  ASSERT_EQ(given.recordCount, 3u);
  const uint32_t firstBlocks[] = {0, 3, 4}, rows[] = {17, 8, 1};
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(given.records[r].firstBlock, firstBlocks[r]);
    EXPECT_EQ(given.records[r].rows, rows[r]);
    EXPECT_EQ(given.records[r].sizes[0], rows[r]);
    EXPECT_EQ(given.records[r].addresses[0], addressOf(r, 0));
    EXPECT_EQ(given.records[r].addresses[1], addressOf(r, 2)) << "the kernel reads operands 0, 2";
    EXPECT_EQ(given.records[r].strides[1][0], rows[r] == 1 ? 0u : 32u);
  }
  EXPECT_EQ(counters[1], 1u);
}

TEST_F(CudaRows, scalars_are_those_of_each_entry) {
  ASSERT_TRUE(launch({3, 4}, 8, 100, {0.5, 7}));
  ASSERT_EQ(kept.size(), 1u);
  const Launch &given = kept[0].launch;
  for (uint32_t r = 0; r < 2; ++r) {
    const float *slots = given.numbers + 3 * given.records[r].row;
    EXPECT_EQ(slots[0], r ? 7.0f : 0.5f);
    EXPECT_EQ(slots[1], 8.0f);
    EXPECT_EQ(slots[2], float(r));
  }
}

TEST_F(CudaRows, long_lists_take_several_launches_and_miss_no_tensor) {
  std::vector<int64_t> rowCounts;
  uint64_t blocks = 0;
  for (int64_t i = 0; i < 100; ++i) {
    rowCounts.push_back(i % 20 + 1);
    blocks += (uint64_t(rowCounts.back()) + rowsPerBlock - 1) / rowsPerBlock;
  }
  ASSERT_TRUE(launch(rowCounts));
  ASSERT_GT(kept.size(), 1u);
  size_t entry = 0;
  uint64_t grids = 0;
  for (const Kept &one : kept) {
    ASSERT_LE(one.launch.recordCount, rowsRecordRoom(2, 1));
    uint32_t firstBlock = 0;
    for (uint32_t r = 0; r < one.launch.recordCount; ++r, ++entry) {
      const auto &record = one.launch.records[r];
      EXPECT_EQ(record.addresses[0], addressOf(entry, 0));
      EXPECT_EQ(record.firstBlock, firstBlock);
      EXPECT_EQ(one.launch.numbers[3 * record.row + 2], float(entry));
      firstBlock += uint32_t((record.rows + rowsPerBlock - 1) / rowsPerBlock);
    }
    EXPECT_EQ(one.grid, firstBlock);
    grids += one.grid;
  }
  EXPECT_EQ(entry, rowCounts.size());
  EXPECT_EQ(grids, blocks);
}

TEST_F(CudaRows, what_streams_much_is_kept_in_the_cache_last) {
  ASSERT_TRUE(launch({1}, 8, (64 << 20) - 1));
  ASSERT_TRUE(launch({1}, 8, 64 << 20));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].launch.policy, policyFor((64 << 20) - 1));
  EXPECT_EQ(kept[1].launch.policy, L2::EVICT_LAST);
  EXPECT_NE(kept[0].launch.policy, kept[1].launch.policy);
}

TEST_F(CudaRows, rows_beyond_a_launch_s_blocks_are_refused) {
  kernel.rowsPerBlock = 1;
  ASSERT_TRUE(launch({5, INT32_MAX, 7}, 1));
  ASSERT_EQ(kept.size(), 3u) << "no launch has more than 2^31 - 1 blocks";
  EXPECT_EQ(kept[1].grid, unsigned(INT32_MAX));
  Result<void> refused = launch({5, int64_t(INT32_MAX) + 1}, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(render(refused.error()),
            "expected at most 2^31 - 1 blocks of a launch, got 2147483648; split the list");
  EXPECT_EQ(kept.size(), 3u) << "nothing was launched";
}

TEST_F(CudaRows, an_op_too_large_for_parameters_is_refused) {
  kernel.slots = 2000;
  Result<void> refused = launch({1});
  ASSERT_FALSE(refused);
  EXPECT_NE(render(refused.error()).find("2 operands and 2000 scalar results"), std::string::npos)
      << render(refused.error());
  EXPECT_TRUE(kept.empty());
}

} // namespace
} // namespace fw::plan
