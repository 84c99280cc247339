// What only a driver that can be told to fail, and that counts, can show.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

Scalars step(double t) { return Scalars().set("t", t); }

fw_status runOf(fw_plan *plan, const Scalars &scalars) {
  const auto &given = scalars.array();
  return fw_plan_run(plan, given.data(), given.size(), nullptr, nullptr);
}

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
  Trial trial(context(), onGpu, {{&adamw, vectors(Sizes(300, 5))}});
  trial.run(step(1));
  fake_cuda_counts before = {}, after = {};
  gpu.fake.counts_now(&before);
  std::vector<double> rates(300, 1);
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

TEST_F(Calls, a_launch_of_a_short_list_launches_once) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}});
  cuda::Stream stream;
  trial.launch(step(1), stream);
  EXPECT_EQ(of([&] { trial.launch(step(2)); }).find("cuLaunchKernel 2"), std::string::npos);
  const std::string calls = of([&] { trial.launch(step(2), stream); });
  EXPECT_NE(calls.find("cuLaunchKernel 1"), std::string::npos) << calls;
  for (const char *never : {"cuMemAlloc", "cuMemcpy", "Synchronize", "cuLibrary", "cuEvent"})
    EXPECT_EQ(calls.find(never), std::string::npos) << calls;
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

// --- Out of memory, and every other failure ------------------------------------------------------

class Faults : public FakeTest {
protected:
  /// Makes the 1st, 2nd ... call of a driver's function fail until `work` does not meet one.
  /// After each failure `check` is called. The number of failures.
  int failEvery(const char *function, int result, fw_status expected,
                const std::function<fw_status()> &work, const std::function<void()> &check) {
    for (int nth = 1;; ++nth) {
      EXPECT_TRUE(gpu.fake.fail(function, unsigned(nth), result)) << function;
      const fw_status status = work();
      gpu.fake.heal();
      if (status == FW_OK)
        return nth - 1;
      EXPECT_EQ(status, expected) << function << " " << nth << ": " << api::lastError();
      check();
      if (nth == 100)
        return nth;
    }
  }
};

TEST_F(Faults, plans_are_made_whole_or_not_at_all) {
  const Kernel &adamw = compiled("adamw"), &narrow = compiled("adamw_grad_bf16");
  Trial tensors(context(), onGpu, {{&adamw, list}, {&narrow, list}});
  GroupArray groups(onGpu);
  groups.add(adamw, tensors.arena(0).tensors(tensors.base(0), FW_DEVICE_CUDA));
  groups.add(narrow, tensors.arena(1).tensors(tensors.base(1), FW_DEVICE_CUDA));
  const std::vector<fw_plan_group> array = groups.array();
  const uint64_t bytes = gpu.fake.bytes(0);
  fw_plan *plan = nullptr;
  struct {
    const char *function;
    int result;
    fw_status status;
  } const faults[] = {{"cuMemAlloc_v2", cuda::OUT_OF_MEMORY, FW_OUT_OF_MEMORY},
                      {"cuMemcpyHtoDAsync_v2", 999, FW_DEVICE},
                      {"cuStreamCreate", cuda::OUT_OF_MEMORY, FW_OUT_OF_MEMORY},
                      {"cuStreamSynchronize", 999, FW_DEVICE}};
  for (const auto &fault : faults) {
    const int failures = failEvery(
        fault.function, fault.result, fault.status,
        [&] { return fw_plan_create(context(), array.data(), array.size(), &plan); },
        [&] {
          EXPECT_EQ(plan, nullptr);
          EXPECT_EQ(gpu.fake.bytes(0), bytes) << "memory was not given back";
        });
    EXPECT_GT(failures, 1) << fault.function;
    EXPECT_OK(runOf(plan, step(1)));
    for (size_t g = 0; g < 2; ++g)
      EXPECT_EQ(tensors.arena(g).check(tensors.image(g), step(1)), "");
    fw_plan_destroy(plan);
    plan = nullptr;
    EXPECT_EQ(gpu.fake.bytes(0), bytes);
    tensors.reset();
  }
}

/// A run that needs memory: numbers on the device for the first time.
TEST_F(Faults, runs_change_nothing_when_they_fail) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  const Scalars counts = Scalars().setData("t", t.data(), "i64", 1, true);
  for (const char *function : {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel"}) {
    Trial trial(context(), onGpu, {{&adamw, list, counts}}),
        reference(context(), onCpu, {{&adamw, list}});
    t.write({0});
    const bool isMemory = std::string(function) == "cuMemAlloc_v2";
    bool isLaunched = false;
    failEvery(
        function, isMemory ? cuda::OUT_OF_MEMORY : 999, isMemory ? FW_OUT_OF_MEMORY : FW_DEVICE,
        [&] { return runOf(trial.plan(), {}); },
        [&] {
          EXPECT_EQ(trial.image(), trial.arena().bytes) << function;
          // The prologue is a launch of its own: it may have counted before the next one failed.
          isLaunched |= t.read() != std::vector<int64_t>{0};
          t.write({0});
        });
    EXPECT_TRUE(!isLaunched || std::string(function) == "cuLaunchKernel") << function;
    reference.run(step(1));
    expectSame(trial, reference);
  }
}

TEST_F(Faults, captured_runs_that_fail_leave_the_plan) {
  const Kernel &adamw = compiled("adamw");
  const List many = vectors(Sizes(40, 5));
  std::vector<double> rates(40, 1), others(40, 2);
  rates[3] = others[4] = 7;
  Trial trial(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
  cuda::Stream stream;
  trial.run(step(1).set("lr", rates), stream);
  reference.run(step(1).set("lr", rates));
  cuda::Graph graph(stream, [&] {
    ASSERT_TRUE(gpu.fake.fail("cuMemAlloc_v2", 1, cuda::OUT_OF_MEMORY));
    const Scalars scalars = step(2).set("lr", others);
    EXPECT_FAULT(fw_plan_run(trial.plan(), scalars.array().data(), 2, stream, nullptr),
                 FW_OUT_OF_MEMORY, "");
    trial.run(scalars, stream);
  });
  trial.run(step(3).set("lr", rates), stream);
  graph.launch(stream);
  reference.run(step(3).set("lr", rates));
  reference.run(step(2).set("lr", others));
  expectSame(trial, reference, stream);
}

TEST_F(Faults, a_failed_change_of_pointers_is_made_up_for) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  for (Trial *each : {&trial, &reference}) {
    each->run(step(1));
    std::vector<void *> addresses = each->addresses(0, "g", 4);
    EXPECT_OK(fw_plan_set_pointers(each->plan(), 0, "g", addresses.data(), addresses.size()));
  }
  const Bytes before = trial.image();
  failEvery(
      "cuMemcpyHtoDAsync_v2", 999, FW_DEVICE, [&] { return runOf(trial.plan(), step(2)); },
      [&] { EXPECT_EQ(trial.image(), before); });
  reference.run(step(2));
  expectSame(trial, reference);
}

TEST_F(Faults, plans_give_their_memory_back) {
  const Kernel &adamw = compiled("adamw");
  const uint64_t before = gpu.fake.bytes(0);
  {
    Numbers<int64_t> t(context(), onGpu, {0});
    Trial trial(context(), onGpu, {{&adamw, list}});
    trial.run(Scalars().setData("t", t.data(), "i64"));
    EXPECT_GT(gpu.fake.bytes(0), before);
  }
  EXPECT_EQ(gpu.fake.bytes(0), before);
}

} // namespace
} // namespace suite
