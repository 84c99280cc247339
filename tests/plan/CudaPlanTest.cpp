// A CUDA plan whose host has no memory left: what a failed change of addresses leaves. This
// program's operator new is that of the room, which it links.
#include "runtime/plan/CudaPlan.h"
#include "tests/driver/Cuda.h"
#include "tests/driver/Images.h"
#include "tests/support/FailingAllocation.h"

#include "templates/vocab/launch.h"

#include <cstdlib>
#include <new>

namespace fw::plan {
namespace {

constexpr unsigned threads = 32;
using Launch = ElementsLaunch<2, 0, float>;

/// What a block would load: where its elements of each operand begin, behind the head.
struct Block {
  uint64_t first[2];
  bool isAligned;
  bool operator==(const Block &) const = default;
};

const char *keepBlocks(const void *self, const fake_cuda_launch *launch) {
  const Launch &given = *static_cast<const Launch *>(launch->parameters);
  auto &blocks = **static_cast<std::vector<Block> *const *>(self);
  blocks.clear();
  for (unsigned b = 0; b < launch->grid; ++b) {
    const Chunk &chunk = given.chunks[b];
    const uint64_t at = chunk.first + chunk.head;
    const uint64_t first[] = {given.pointers[0][chunk.segment] + 4 * at,
                              given.pointers[1][chunk.segment] + 2 * at};
    const bool isAligned = first[0] % 16 == 0 && first[1] % 8 == 0;
    blocks.push_back({{first[0], first[1]}, chunk.head == chunk.count || isAligned});
  }
  return nullptr;
}

class CudaPlanTest : public driver::FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped())
      return;
    fake.launch_nothing(0);
    fake.forget_kernels();
    const fake_cuda_kernel twin = {"step", threads, sizeof(Launch), &keptAt, keepBlocks};
    ASSERT_EQ(fake.register_kernel(&twin), 1);
    auto opened = driver::Driver::open(std::getenv("FUSEWRIGHT_CUDA_DRIVER"));
    ASSERT_TRUE(opened) << render(opened.error());
    world = {.driver = *opened,
             .context = context,
             .allocator = &allocator,
             .uploads = &counters[0],
             .modules = &counters[1],
             .launches = &counters[2]};
    program->operands = {{.name = "p", .dtype = "f32", .bytes = 4, .read = true, .written = true},
                         {.name = "g", .dtype = "bf16", .bytes = 2, .read = true}};
    program->stages.emplace_back().kernel = {.operands = {0, 1}};
    auto kernel = std::make_unique<CudaKernel>(image, "step");
    kernel->operands = {0, 1};
    kernel->bytes = {4, 2};
    kernel->threads = threads;
    kernel->chunk = 64;
    kernel->vec = 4;
    cuda.kernels.push_back(std::move(kernel));
  }

  /// Addresses of tensors of `operand`, moved by some bytes.
  std::vector<void *> addresses(unsigned operand, uint64_t by = 0) const {
    std::vector<void *> out;
    for (size_t i = 0; i < sizes.size(); ++i)
      out.push_back(reinterpret_cast<void *>(memory + (2 * i + operand) * 1024 + by));
    return out;
  }

  Group group() {
    std::vector<fw_tensor> tensors;
    for (size_t i = 0; i < sizes.size(); ++i)
      for (unsigned k = 0; k < 2; ++k)
        tensors.push_back({.struct_size = sizeof(fw_tensor),
                           .device = FW_DEVICE_CUDA,
                           .device_id = 0,
                           .rank = 1,
                           .dtype = k ? "bf16" : "f32",
                           .data = addresses(k)[i],
                           .shape = &sizes[i],
                           .strides = nullptr,
                           .first_element = 0});
    Group group{.program = program, .list = {}, .length = sizes.size()};
    auto list = launch::checkTensors(program->operands, {tensors.data(), tensors.size()},
                                     {FW_DEVICE_CUDA, 0});
    EXPECT_TRUE(list) << render(list.error());
    group.list = std::move(*list);
    for (size_t i = 0; i < sizes.size(); ++i)
      group.entryOf.push_back(i);
    return group;
  }

  /// The blocks of a run, all of which must be aligned.
  std::vector<Block> run(Plan &plan) {
    const PlanScalars scalars({}, {sizes.size()});
    auto values = scalars.resolve({nullptr, 0});
    EXPECT_TRUE(values);
    Result<void> done = plan.run(*values, nullptr, nullptr);
    EXPECT_TRUE(done) << render(done.error());
    EXPECT_EQ(cu.ctxSynchronize(), driver::Cu::SUCCESS);
    for (const Block &block : kept)
      EXPECT_TRUE(block.isAligned);
    return kept;
  }

  const std::string image = driver::cubin(90, {"step"});
  const std::vector<int64_t> sizes = {129, 33, 200};
  const uint64_t memory = 1 << 20; // never touched: the twin only looks at addresses
  std::vector<Block> kept;
  std::vector<Block> *keptAt = &kept;
  driver::Allocator allocator;
  std::atomic<uint64_t> counters[3] = {};
  DeviceWorld world;
  std::shared_ptr<launch::Program> program = std::make_shared<launch::Program>();
  CudaProgram cuda;
};

TEST_F(CudaPlanTest, a_change_of_addresses_that_finds_no_memory_leaves_the_plan) {
  std::vector<Group> groups;
  groups.push_back(group());
  const CudaProgram *const programs[] = {&cuda};
  auto plan = makeCudaPlan(world, std::move(groups), programs, [](size_t) { return false; });
  ASSERT_TRUE(plan) << render(plan.error());
  const std::vector<Block> before = run(**plan);
  EXPECT_EQ(before.size(), 8u);
  const std::vector<void *> moved = addresses(1, 2);
  for (long n = 0;; ++n) {
    ASSERT_LT(n, 100);
    bool hasFailed = false;
    untilFailure = n;
    try {
      EXPECT_TRUE((*plan)->setPointers(0, 1, moved));
    } catch (const std::bad_alloc &) {
      hasFailed = true;
    }
    untilFailure = -1;
    if (!hasFailed) {
      EXPECT_GT(n, 2);
      break;
    }
    EXPECT_EQ(run(**plan), before) << "allocation " << n;
  }
  const std::vector<Block> after = run(**plan);
  EXPECT_NE(after, before);
  EXPECT_TRUE((*plan)->setPointers(0, 1, addresses(1)));
  EXPECT_EQ(run(**plan), before);
}

} // namespace
} // namespace fw::plan
