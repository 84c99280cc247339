// What only a driver that can be told to fail, and that counts, can show.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

// --- What a run calls ----------------------------------------------------------------------------

class Calls : public FakeTest {
protected:
  /// Calls of the driver that `work` makes, as "cuCtxGetCurrent 2, cuLaunchKernel 1".
  std::string of(const std::function<void()> &work) {
    gpu.fake.forget_calls();
    work();
    return gpu.fake.call_list();
  }
};

TEST_F(Calls, a_steady_run_launches_once_and_asks_two_questions) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}, {&adamw, vectors(Sizes(30, 5))}});
  cuda::Stream stream;
  trial.run(step(1), stream);
  EXPECT_EQ(of([&] { trial.run(step(2), stream); }),
            "cuCtxGetCurrent 1, cuLaunchKernel 1, cuStreamIsCapturing 1");
  EXPECT_EQ(of([&] { trial.run(step(3).set("lr", 0.5)); }), "cuCtxGetCurrent 1, cuLaunchKernel 1");
}

TEST_F(Calls, device_scalars_are_one_launch_more) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu, {{&adamw, list, Scalars().setData("t", t.data(), "i64", 1, true)}});
  trial.run();
  EXPECT_EQ(of([&] { trial.run(); }), "cuCtxGetCurrent 1, cuLaunchKernel 2");
}

TEST_F(Calls, a_table_of_scalars_is_one_short_copy_more) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, vectors(Sizes(40, 5))}});
  auto rates = [](double first) {
    std::vector<double> rates;
    for (int i = 0; i < 40; ++i)
      rates.push_back(first + i);
    return rates;
  };
  trial.run(step(1).set("lr", rates(1)));
  EXPECT_EQ(of([&] { trial.run(step(1).set("lr", rates(1))); }),
            "cuCtxGetCurrent 1, cuLaunchKernel 1");
  EXPECT_EQ(of([&] { trial.run(step(1).set("lr", rates(2))); }),
            "cuCtxGetCurrent 1, cuLaunchKernel 1, cuMemcpyHtoDAsync_v2 1");
}

TEST_F(Calls, nothing_waits) {
  const Kernel &adamw = compiled("adamw");
  const size_t count = 2500; // tables of more than 64 KB
  Trial trial(context(), onGpu, {{&adamw, vectors(Sizes(count, 5))}});
  std::vector<double> rates(count, 1);
  rates[3] = 2;
  trial.run(step(1).set("lr", rates));
  fake_cuda_counts before = {}, after = {};
  gpu.fake.counts_now(&before);
  for (int run = 0; run < 5; ++run) {
    rates[7] += 1;
    std::vector<void *> addresses = trial.addresses(0, "g", 4 * run);
    EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, "g", addresses.data(), addresses.size()));
    trial.run(step(2).set("lr", rates));
  }
  gpu.fake.counts_now(&after);
  EXPECT_EQ(after.implicitSynchronisations, before.implicitSynchronisations);
  EXPECT_GE(gpu.fake.pending(), 5u);
}

TEST_F(Calls, a_plan_is_made_without_waiting_for_others) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}});
  auto tensors = trial.arena().tensors(trial.base(), FW_DEVICE_CUDA);
  GroupArray groups(onGpu);
  groups.add(adamw, tensors);
  for (cuda::Handle stream :
       {cuda::Handle(nullptr), reinterpret_cast<cuda::Handle>(uintptr_t{2})}) {
    trial.run(step(1), stream);
    const uint64_t pending = gpu.fake.pending();
    EXPECT_GE(pending, 1u);
    fw_plan *plan = nullptr;
    EXPECT_OK(fw_plan_create(context(), groups.array().data(), 1, &plan));
    EXPECT_GE(gpu.fake.pending(), pending);
    fw_plan_destroy(plan);
  }
}

TEST_F(Calls, a_launch_of_a_short_list_launches_once) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}});
  cuda::Stream stream;
  trial.launch(step(1), stream);
  EXPECT_EQ(of([&] { trial.launch(step(2)); }).find("cuLaunchKernel 2"), std::string::npos);
  EXPECT_EQ(of([&] { trial.launch(step(2), stream); }), "cuCtxGetId 1, cuLaunchKernel 1");
}

TEST_F(Calls, a_launch_that_is_refused_is_tried_once) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}});
  auto tensors = trial.arena().tensors(trial.base(), FW_DEVICE_CUDA);
  const Scalars scalars = step(1);
  cuda::Stream stream;
  for (cuda::Handle handle : {cuda::Handle(stream), cuda::Handle(nullptr)}) {
    ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", 1, 701));
    const std::string calls = of([&] {
      EXPECT_FAULT(fw_launch(context(), adamw.gpu.get(), tensors.data(), tensors.size(),
                             scalars.array().data(), 1, handle),
                   FW_DEVICE, "LAUNCH_OUT_OF_RESOURCES");
    });
    EXPECT_NE(calls.find("cuLaunchKernel 1"), std::string::npos) << calls;
    EXPECT_EQ(trial.image(), trial.arena().bytes);
  }
}

// --- Contexts that come and go -------------------------------------------------------------------

class Successors : public FakeTest {
protected:
  void TearDown() override {
    if (!IsSkipped())
      gpu.fake.reuse_contexts(0);
    FakeTest::TearDown();
  }
};

TEST_F(Successors, a_context_at_the_address_of_one_that_is_gone) {
  const Kernel &adamw = compiled("adamw");
  gpu.fake.reuse_contexts(1);
  cuda::Handle last = nullptr;
  for (int round = 0; round < 3; ++round) {
    cuda::Handle own = nullptr;
    EXPECT_CUDA(cuCtxCreate_v2(&own, 0, 0)); // is current from here on
    EXPECT_TRUE(!last || own == last);
    last = own;
    {
      cuda::Stream stream;
      Numbers<int64_t> t(context(), onGpu, {1});
      Trial onDevice(context(), onGpu, {{&adamw, list}}),
          reference(context(), onCpu, {{&adamw, list}});
      onDevice.launch(step(1), stream);
      onDevice.run(Scalars().setData("t", t.data(), "i64", 1, true), stream);
      for (double number : {1, 2})
        reference.run(step(number));
      expectSame(onDevice, reference, stream);
    }
    EXPECT_CUDA(cuCtxDestroy_v2(own));
  }
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
}

// --- Errors that come late -----------------------------------------------------------------------

class Late : public FakeTest {};

TEST_F(Late, a_fault_of_the_device_comes_back_from_the_next_call) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}}), other(context(), onGpu, {{&adamw, list}});
  gpu.fake.fault_launch(1, cuda::LAUNCH_FAILED);
  EXPECT_OK(runOf(trial.plan(), step(1)));
  EXPECT_NE(cuda::api().cuCtxSynchronize(), cuda::SUCCESS);
  for (fw_plan *plan : {trial.plan(), other.plan()}) {
    EXPECT_FAULT(runOf(plan, step(2)), FW_DEVICE, "CUDA_ERROR_LAUNCH_FAILED");
    EXPECT_FAULT(runOf(plan, step(2)), FW_DEVICE, "of earlier work");
  }
  gpu.fake.heal();
}

TEST_F(Late, a_launch_that_the_driver_refuses_is_told_at_once) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", 1, 701));
  EXPECT_FAULT(runOf(trial.plan(), step(1)), FW_DEVICE, "LAUNCH_OUT_OF_RESOURCES");
  trial.run(step(2));
  reference.run(step(2));
  expectSame(trial, reference);
}

TEST_F(Late, case_R11_the_first_error_is_the_one_that_is_shown) {
  FreshContext fresh;
  auto adamw = makeKernel(fresh, "adamw");
  Trial tensors(context(), onGpu, {{&compiled("adamw"), list}});
  GroupArray groups(onGpu);
  groups.add(*adamw, tensors.arena().tensors(tensors.base(), FW_DEVICE_CUDA));
  struct {
    const char *function, *words;
    int result;
  } const faults[] = {{"cuLibraryLoadData", "NO_BINARY_FOR_GPU", cuda::NO_BINARY_FOR_GPU},
                      {"cuLibraryGetKernel", "NOT_FOUND", 500},
                      {"cuKernelGetFunction", "NOT_FOUND", 500},
                      {"cuFuncLoad", "OUT_OF_MEMORY", cuda::OUT_OF_MEMORY}};
  fw_plan *plan = nullptr;
  for (const auto &fault : faults) {
    ASSERT_TRUE(gpu.fake.fail(fault.function, 1, fault.result)) << fault.function;
    const fw_status status = fw_plan_create(fresh, groups.array().data(), 1, &plan);
    EXPECT_EQ(status, fault.result == cuda::OUT_OF_MEMORY ? FW_OUT_OF_MEMORY : FW_DEVICE);
    fw_plan_destroy(plan); // says nothing over the first error
    EXPECT_NE(api::lastError().find(fault.words), std::string::npos) << api::lastError();
    EXPECT_EQ(plan, nullptr);
  }
  EXPECT_OK(fw_plan_create(fresh, groups.array().data(), 1, &plan));
  EXPECT_OK(runOf(plan, step(1)));
  EXPECT_EQ(tensors.arena().check(tensors.image(), step(1)), "");
  fw_plan_destroy(plan);
}

} // namespace
} // namespace suite
