// Streams, threads and contexts of the caller.
#include "tests/gpu/suite/Trial.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

class Streams : public GpuTest {};

/// Page-locked memory, so that copies wait for their turn on the stream.
struct Pinned {
  explicit Pinned(const Bytes &bytes) : size(bytes.size()) {
    EXPECT_CUDA(cuMemHostAlloc(&address, size, 0));
    std::memcpy(address, bytes.data(), size);
  }
  ~Pinned() { EXPECT_CUDA(cuMemFreeHost(address)); }
  void *address = nullptr;
  const size_t size;
};

/// Work that takes a while.
void delay(const cuda::Stream &stream) {
  EXPECT_CUDA(cuLaunchHostFunc(
      stream, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }, nullptr));
}

uint64_t addressOf(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// A slow producer writes all tensors on a side stream; `work` follows it there.
void produceThen(const Trial &trial, const Bytes &values,
                 const std::function<void(const cuda::Stream &)> &work) {
  Pinned produced(values);
  cuda::Stream side;
  delay(side);
  EXPECT_CUDA(cuMemcpyHtoDAsync_v2(addressOf(trial.base()), produced.address, produced.size, side));
  work(side);
  side.synchronize();
}

TEST_F(Streams, case_F05_work_is_ordered_on_the_stream_of_the_caller) {
  const Kernel &adamw = compiled("adamw");
  Trial onDevice(context(), onGpu, {{&adamw, list}}),
      reference(context(), onCpu, {{&adamw, list}}, 99);
  const Bytes values = Arena(adamw, list, 99).bytes;
  reference.run(step(2));
  produceThen(onDevice, values, [&](const cuda::Stream &side) { onDevice.run(step(2), side); });
  expectImages(reference, onDevice.images(), reference.images());
  onDevice.reset();
  produceThen(onDevice, values, [&](const cuda::Stream &side) { onDevice.launch(step(2), side); });
  expectImages(reference, onDevice.images(), reference.images());
}

TEST_F(Streams, a_slow_step_number_is_waited_for) {
  const Kernel &adamw = compiled("adamw");
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  Numbers<int64_t> t(context(), onGpu, {1});
  const int64_t six = 6;
  Pinned produced(Bytes(reinterpret_cast<const std::byte *>(&six),
                        reinterpret_cast<const std::byte *>(&six + 1)));
  cuda::Stream side;
  delay(side);
  EXPECT_CUDA(cuMemcpyHtoDAsync_v2(addressOf(t.data()), produced.address, 8, side));
  onDevice.run(Scalars().setData("t", t.data(), "i64", 1, true), side);
  reference.run(step(7));
  expectSame(onDevice, reference, side);
}

TEST_F(Streams, changed_pointers_and_scalars_come_in_their_turn) {
  const Kernel &adamw = compiled("adamw");
  const List many = vectors(Sizes(40, 5));
  Trial onDevice(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
  cuda::Stream stream;
  delay(stream); // all that follows is queued at once
  for (int t = 1; t <= 6; ++t) {
    std::vector<double> lr;
    for (int i = 0; i < 40; ++i)
      lr.push_back(0.01 * t + 0.001 * i);
    for (auto [trial, handle] :
         {std::pair<Trial *, cuda::Handle>{&onDevice, stream}, {&reference, nullptr}}) {
      std::vector<void *> addresses = trial->addresses(0, t % 2 ? "g" : "m");
      EXPECT_OK(fw_plan_set_pointers(trial->plan(), 0, "g", addresses.data(), addresses.size()));
      trial->run(step(t).set("lr", lr), handle);
    }
  }
  expectSame(onDevice, reference, stream);
}

TEST_F(Streams, two_of_them_with_a_plan_each) {
  const Kernel &adamw = compiled("adamw"), &sgd = compiled("sgd");
  cuda::Stream first, second;
  Trial a(context(), onGpu, {{&adamw, list}}), b(context(), onGpu, {{&sgd, list}}, 7);
  for (int t = 1; t <= 20; ++t) {
    a.run(step(t), first);
    b.run({}, second);
  }
  Trial referenceA(context(), onCpu, {{&adamw, list}}),
      referenceB(context(), onCpu, {{&sgd, list}}, 7);
  for (int t = 1; t <= 20; ++t) {
    referenceA.run(step(t));
    referenceB.run();
  }
  expectSame(a, referenceA, first);
  expectSame(b, referenceB, second);
}

TEST_F(Streams, legacy_and_per_thread_streams) {
  const Kernel &adamw = compiled("adamw");
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  int t = 0;
  for (uintptr_t handle : {0, 1, 2}) {
    const auto stream = reinterpret_cast<cuda::Handle>(handle);
    onDevice.run(step(++t), stream);
    reference.run(step(t));
    expectSame(onDevice, reference, stream);
  }
}

/// What a thread with a stream and plans of its own does.
void workOfThread(fw_context *context, cuda::Handle current, int number, bool &same) {
  EXPECT_CUDA(cuCtxSetCurrent(current));
  const Kernel &adamw = compiled("adamw");
  const Numbers<int64_t> t(context, onGpu, {0});
  Trial onDevice(context, onGpu, {{&adamw, list, Scalars().setData("t", t.data(), "i64", 1, true)}},
                 uint64_t(number));
  Trial reference(context, onCpu, {{&adamw, list}}, uint64_t(number));
  cuda::Stream stream;
  for (int run = 1; run <= 20; ++run) {
    onDevice.run({}, stream);
    onDevice.launch(step(3), stream);
    reference.run(step(run));
    reference.run(step(3));
  }
  same = onDevice.arena().compare(onDevice.image(0, stream), reference.image()) == "";
}

TEST_F(Streams, threads_with_plans_of_their_own) {
  compiled("adamw");
  bool same[4] = {};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back(
        [&, number] { workOfThread(context(), gpu.primary, number, same[number]); });
  for (std::thread &thread : threads)
    thread.join();
  for (bool right : same)
    EXPECT_TRUE(right);
}

TEST_F(Streams, one_program_loaded_by_many_threads_at_once) {
  FreshContext fresh;
  auto kernel = makeKernel(fresh, "adamw");
  std::vector<std::thread> threads;
  std::atomic<int> loaded = 0;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&] { loaded += fw_preload(fresh, kernel->gpu.get(), 0) == FW_OK; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(loaded, 8);
  EXPECT_EQ(fresh.counters().modules, 1u);
}

TEST_F(Streams, a_thread_without_a_current_context) {
  const Kernel &adamw = compiled("adamw");
  std::thread([&] {
    Trial onDevice(context(), onGpu, {{&adamw, list}}),
        reference(context(), onCpu, {{&adamw, list}});
    onDevice.run(step(1));
    onDevice.launch(step(2));
    for (double t : {1, 2})
      reference.run(step(t));
    expectSame(onDevice, reference);
    cuda::Handle current = gpu.primary;
    EXPECT_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr) << "the thread's context is as it was";
  }).join();
}

TEST_F(Streams, contexts_of_the_caller_that_are_not_the_primary_one) {
  const Kernel &adamw = compiled("adamw");  // loaded for the primary one
  for (int round = 0; round < 3; ++round) { // a new context may have the address of an old one
    cuda::Handle own = nullptr;
    EXPECT_CUDA(cuCtxCreate_v2(&own, 0, 0)); // is current from here on
    {
      cuda::Stream stream;
      Trial onDevice(context(), onGpu, {{&adamw, list}}),
          reference(context(), onCpu, {{&adamw, list}});
      onDevice.run(step(1), stream);
      onDevice.launch(step(2), stream);
      for (double t : {1, 2})
        reference.run(step(t));
      expectSame(onDevice, reference, stream);
      cuda::Handle now = nullptr;
      EXPECT_CUDA(cuCtxGetCurrent(&now));
      EXPECT_EQ(now, own);
    }
    EXPECT_CUDA(cuCtxDestroy_v2(own));
  }
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
  Trial after(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  after.run(step(1));
  reference.run(step(1));
  expectSame(after, reference);
}

TEST_F(Streams, another_context_of_the_device_may_be_current) {
  const Kernel &adamw = compiled("adamw");
  cuda::Stream stream; // of the primary context
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  cuda::Handle other = nullptr;
  EXPECT_CUDA(cuCtxCreate_v2(&other, 0, 0));
  {
    cuda::Current current(other);
    onDevice.run(step(1), stream);
    onDevice.launch(step(2), stream);
  }
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
  for (double t : {1, 2})
    reference.run(step(t));
  expectSame(onDevice, reference, stream);
  EXPECT_CUDA(cuCtxDestroy_v2(other));
}

/// The driver refuses the current context's function on the stream of another, captured or not.
TEST_F(Streams, a_program_loaded_in_the_current_context_goes_to_another_ones_stream) {
  const Kernel &adamw = compiled("adamw");
  cuda::Stream stream; // of the primary context
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  cuda::Handle other = nullptr;
  EXPECT_CUDA(cuCtxCreate_v2(&other, 0, 0));
  EXPECT_OK(fw_preload(context(), adamw.gpu.get(), 0));
  onDevice.launch(step(1), stream);
  cuda::Graph graph(stream, [&] { onDevice.launch(step(2), stream); });
  EXPECT_EQ(graph.nodes(), 1u);
  cuda::Handle now = nullptr;
  EXPECT_CUDA(cuCtxGetCurrent(&now));
  EXPECT_EQ(now, other);
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
  graph.launch(stream);
  for (double t : {1, 2})
    reference.run(step(t));
  expectSame(onDevice, reference, stream);
  EXPECT_CUDA(cuCtxDestroy_v2(other));
}

} // namespace
} // namespace suite
