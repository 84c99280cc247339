// Device memory: buffers, the host's allocator, and what is left when there is none.
#include "tests/gpu/suite/Trial.h"

#include <map>
#include <mutex>

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

class Buffers : public GpuTest {
protected:
  api::Buffer make(fw_device device, size_t bytes) {
    return api::make<api::Buffer>(
        [&](fw_buffer **out) { return fw_buffer_create(context(), device, 0, bytes, out); });
  }
};

uint64_t addressOf(const api::Buffer &buffer) {
  return reinterpret_cast<uint64_t>(fw_buffer_data(buffer.get()));
}

TEST_F(Buffers, bytes_come_back_as_they_went) {
  for (fw_device device : {FW_DEVICE_CPU, FW_DEVICE_CUDA})
    for (size_t bytes : {1, 255, 256, 70'000}) {
      api::Buffer buffer = make(device, bytes);
      EXPECT_EQ(fw_buffer_bytes(buffer.get()), bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(fw_buffer_data(buffer.get())) % 256, 0u);
      std::string in(bytes, 'a'), out(bytes, ' ');
      for (size_t i = 0; i < bytes; ++i)
        in[i] = char(i * 7);
      EXPECT_OK(fw_buffer_copy_in(buffer.get(), 0, in.data(), bytes, nullptr));
      in[bytes / 2] = 'x';
      EXPECT_OK(fw_buffer_copy_in(buffer.get(), bytes / 2, &in[bytes / 2], 1, nullptr));
      EXPECT_OK(fw_buffer_copy_out(buffer.get(), 0, out.data(), bytes, nullptr));
      EXPECT_EQ(in, out);
    }
}

TEST_F(Buffers, without_bytes) {
  for (fw_device device : {FW_DEVICE_CPU, FW_DEVICE_CUDA}) {
    api::Buffer buffer = make(device, 0);
    EXPECT_EQ(fw_buffer_bytes(buffer.get()), 0u);
    EXPECT_OK(fw_buffer_copy_in(buffer.get(), 0, nullptr, 0, nullptr));
    EXPECT_OK(fw_buffer_copy_out(buffer.get(), 0, nullptr, 0, nullptr));
  }
  EXPECT_EQ(fw_buffer_data(nullptr), nullptr);
  EXPECT_EQ(fw_buffer_bytes(nullptr), 0u);
  fw_buffer_destroy(nullptr);
}

TEST_F(Buffers, ranges_outside_are_refused) {
  for (fw_device device : {FW_DEVICE_CPU, FW_DEVICE_CUDA}) {
    api::Buffer buffer = make(device, 100);
    char bytes[200] = {};
    const std::pair<size_t, size_t> wrong[] = {{0, 101}, {100, 1},      {50, 51},
                                               {101, 0}, {SIZE_MAX, 2}, {2, SIZE_MAX}};
    for (auto [offset, count] : wrong) {
      EXPECT_FAULT(fw_buffer_copy_in(buffer.get(), offset, bytes, count, nullptr), FW_USAGE,
                   "a range inside");
      EXPECT_FAULT(fw_buffer_copy_out(buffer.get(), offset, bytes, count, nullptr), FW_USAGE,
                   "a range inside");
    }
    EXPECT_FAULT(fw_buffer_copy_in(buffer.get(), 0, nullptr, 1, nullptr), FW_USAGE, "got NULL");
    EXPECT_FAULT(fw_buffer_copy_out(buffer.get(), 0, nullptr, 1, nullptr), FW_USAGE, "got NULL");
  }
  fw_buffer *none = nullptr;
  EXPECT_FAULT(fw_buffer_create(context(), fw_device(7), 0, 8, &none), FW_USAGE, "got 7");
  EXPECT_FAULT(fw_buffer_create(context(), FW_DEVICE_CUDA, 4096, 8, &none), FW_DEVICE,
               "got device 4096");
  EXPECT_FAULT(fw_buffer_create(context(), FW_DEVICE_CUDA, 0, SIZE_MAX / 2, &none),
               FW_OUT_OF_MEMORY, "");
  EXPECT_FAULT(fw_buffer_create(context(), FW_DEVICE_CPU, 0, SIZE_MAX - 3, &none), FW_OUT_OF_MEMORY,
               "");
  EXPECT_EQ(none, nullptr);
}

/// Tensors end where their memory ends, for checkers of memory.
TEST_F(Buffers, every_tensor_in_one_of_its_own) {
  for (const char *program :
       {"adamw_grad_bf16_p_copy_bf16_copy", "cast_x_f32_y_e4m3fn", "scale_in_f16_out_f32"}) {
    const Kernel &kernel = compiled(program);
    for (int64_t size : {kernel.vector * 100, kernel.vector * 100 + 1, kernel.chunk + 3}) {
      const Arena arena(kernel, vectors({size}), uint64_t(size));
      auto tensors = arena.tensors(nullptr, FW_DEVICE_CUDA);
      std::vector<api::Buffer> buffers;
      for (size_t k = 0; k < tensors.size(); ++k) {
        const size_t bytes = size_t(size) * formatOf(tensors[k].dtype).bytes;
        buffers.push_back(make(FW_DEVICE_CUDA, bytes));
        tensors[k].data = fw_buffer_data(buffers[k].get());
        EXPECT_OK(fw_buffer_copy_in(buffers[k].get(), 0, &arena.bytes[arena.offset(0, k)], bytes,
                                    nullptr));
      }
      const Scalars scalars = kernel.step().empty() ? Scalars() : Scalars().set(kernel.step(), 2);
      const auto &given = scalars.array();
      EXPECT_OK(fw_launch(context(), kernel.gpu.get(), tensors.data(), tensors.size(), given.data(),
                          given.size(), nullptr));
      Bytes image = arena.bytes;
      for (size_t k = 0; k < tensors.size(); ++k)
        EXPECT_OK(fw_buffer_copy_out(buffers[k].get(), 0, &image[arena.offset(0, k)],
                                     fw_buffer_bytes(buffers[k].get()), nullptr));
      EXPECT_EQ(arena.check(image, scalars), "") << program << ", " << size;
    }
  }
}

// --- Long tensors --------------------------------------------------------------------------------

TEST_F(Buffers, more_elements_than_32_bits_number) {
  const size_t count = (size_t(1) << 32) + 11;
  fw_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(fw_context_device(context(), 0, &info));
  if (isQuick() || gpu.isFake || info.memory_bytes < 4 * count)
    GTEST_SKIP() << "needs 16 GiB of device memory, and time";
  const Kernel &cast = compiled("cast_x_e5m2_y_f16");
  api::Buffer from = make(FW_DEVICE_CUDA, count), to = make(FW_DEVICE_CUDA, 2 * count);
  const std::vector<size_t> places = {0,           1u << 31,    (1u << 31) + 1, 0xFFFFFFFF,
                                      0x100000000, 0x100000001, count - 1};
  EXPECT_CUDA(cuMemsetD8Async(addressOf(from), 0x3C, count, nullptr)); // one
  for (size_t i = 0; i < places.size(); ++i) {
    const uint8_t word = uint8_t(0x40 + i);
    EXPECT_OK(fw_buffer_copy_in(from.get(), places[i], &word, 1, nullptr));
  }
  const int64_t shape = int64_t(count);
  fw_tensor tensors[] = {api::tensor("e5m2", fw_buffer_data(from.get()), &shape),
                         api::tensor("f16", fw_buffer_data(to.get()), &shape)};
  for (fw_tensor &tensor : tensors)
    tensor.device = FW_DEVICE_CUDA;
  GroupArray groups(onGpu);
  groups.add(cast, {tensors[0], tensors[1]});
  auto plan = api::make<api::Plan>(
      [&](fw_plan **out) { return fw_plan_create(context(), groups.array().data(), 1, out); });
  for (bool byPlan : {true, false}) {
    EXPECT_CUDA(cuMemsetD8Async(addressOf(to), 0xEE, 2 * count, nullptr));
    if (byPlan)
      EXPECT_OK(fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr));
    else
      EXPECT_OK(fw_launch(context(), cast.gpu.get(), tensors, 2, nullptr, 0, nullptr));
    for (size_t i = 0; i < places.size(); ++i) {
      uint16_t word = 0;
      EXPECT_OK(fw_buffer_copy_out(to.get(), 2 * places[i], &word, 2, nullptr));
      EXPECT_EQ(word, (0x40 + i) << 8) << places[i];
    }
    for (size_t at = 2; at < count; at += size_t(1) << 26) {
      uint16_t word = 0;
      EXPECT_OK(fw_buffer_copy_out(to.get(), 2 * at, &word, 2, nullptr));
      EXPECT_EQ(word, 0x3C00) << at;
    }
  }
}

// --- The host's allocator ------------------------------------------------------------------------

/// Callbacks of a host that counts, and may refuse.
struct Host {
  std::mutex mutex;
  std::map<void *, size_t> held;
  int calls = 0, refuse = -1;      ///< number of the call that gets nothing
  cuda::Handle expected = nullptr; ///< context that must be current

  static void *allocate(void *self, int32_t device, size_t bytes) {
    Host &host = *static_cast<Host *>(self);
    std::lock_guard lock(host.mutex);
    EXPECT_EQ(device, 0);
    EXPECT_GT(bytes, 0u);
    host.checkContext();
    if (host.calls++ == host.refuse)
      return nullptr;
    uint64_t address = 0;
    EXPECT_CUDA(cuMemAlloc_v2(&address, bytes));
    void *memory = reinterpret_cast<void *>(address);
    host.held[memory] = bytes;
    return memory;
  }
  static void release(void *self, int32_t device, void *memory) {
    Host &host = *static_cast<Host *>(self);
    std::lock_guard lock(host.mutex);
    EXPECT_EQ(device, 0);
    host.checkContext();
    EXPECT_EQ(host.held.erase(memory), 1u);
    EXPECT_CUDA(cuMemFree_v2(reinterpret_cast<uint64_t>(memory)));
  }
  void checkContext() const {
    cuda::Handle current = nullptr;
    EXPECT_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, expected);
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (auto [memory, bytes] : held)
      sum += bytes;
    return sum;
  }
  api::Context context() {
    fw_context_options options;
    fw_context_options_init(&options);
    options.user_data = this;
    options.device_allocate = allocate;
    options.device_release = release;
    return api::make<api::Context>(
        [&](fw_context **out) { return fw_context_create(&options, out); });
  }
};

class Allocator : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    host.expected = gpu.primary;
    if (!IsSkipped())
      own = host.context();
  }
  void TearDown() override {
    own.reset();
    EXPECT_TRUE(host.held.empty()) << host.held.size() << " blocks were never given back";
    GpuTest::TearDown();
  }
  Host host;
  api::Context own;
};

TEST_F(Allocator, is_asked_for_every_byte_and_gets_it_back) {
  auto adamw = makeKernel(own.get(), "adamw");
  {
    Trial onDevice(own.get(), onGpu, {{adamw.get(), list}}),
        reference(own.get(), onCpu, {{adamw.get(), list}});
    EXPECT_EQ(host.bytes(), onDevice.info().workspace_bytes + onDevice.arena().bytes.size());
    Numbers<int64_t> t(own.get(), onGpu, {0});
    onDevice.run(Scalars().setData("t", t.data(), "i64", 1, true));
    reference.run(Scalars().set("t", 1));
    expectSame(onDevice, reference);
    EXPECT_EQ(host.bytes(), onDevice.info().workspace_bytes + onDevice.arena().bytes.size() + 256);
    EXPECT_GT(host.calls, 3);
  }
  EXPECT_EQ(host.bytes(), 0u);
}

TEST_F(Allocator, is_asked_on_any_thread_and_in_any_context) {
  auto adamw = makeKernel(own.get(), "adamw");
  EXPECT_CUDA(cuCtxSetCurrent(nullptr)); // the primary one is made current for the callbacks
  {
    Trial onDevice(own.get(), onGpu, {{adamw.get(), list}});
    onDevice.run(Scalars().set("t", 1));
    EXPECT_EQ(onDevice.arena().check(onDevice.image(), Scalars().set("t", 1)), "");
  }
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
}

TEST_F(Allocator, may_refuse_any_block_of_a_plan) {
  auto adamw = makeKernel(own.get(), "adamw");
  const Arena arena(*adamw, list, 1);
  Block block(own.get(), onGpu, arena.bytes);
  GroupArray groups(onGpu);
  groups.add(*adamw, arena.tensors(block.data(), FW_DEVICE_CUDA));
  const size_t held = host.held.size();
  fw_plan *plan = nullptr;
  int refused = 0;
  for (;; ++refused) {
    host.refuse = host.calls + refused;
    const fw_status status = fw_plan_create(own.get(), groups.array().data(), 1, &plan);
    if (status == FW_OK)
      break;
    EXPECT_FAULT(status, FW_OUT_OF_MEMORY, "device_allocate, got NULL");
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(host.held.size(), held);
    ASSERT_LT(refused, 100);
  }
  EXPECT_GT(refused, 1);
  fw_plan_destroy(plan);
}

TEST_F(Allocator, needs_both_callbacks) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.device_allocate = Host::allocate;
  fw_context *out = nullptr;
  EXPECT_EQ(fw_context_create(&options, &out), FW_USAGE) << api::lastError();
  options.device_allocate = nullptr;
  options.device_release = Host::release;
  EXPECT_EQ(fw_context_create(&options, &out), FW_USAGE) << api::lastError();
  EXPECT_EQ(out, nullptr);
}

} // namespace
} // namespace suite
