// Every call of the driver that a plan makes may fail: plans and tensors stay as they were.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

class Faults : public FakeTest {};

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
    failEvery(
        function, isMemory ? cuda::OUT_OF_MEMORY : 999, isMemory ? FW_OUT_OF_MEMORY : FW_DEVICE,
        [&] { return runOf(trial.plan(), {}); },
        [&] {
          EXPECT_EQ(trial.image(), trial.arena().bytes) << function;
          EXPECT_EQ(t.read(), std::vector<int64_t>{0}) << function;
        });
    EXPECT_EQ(t.read(), std::vector<int64_t>{1}) << function;
    reference.run(step(1));
    expectSame(trial, reference);
  }
}

/// The prologue is a launch of its own, which has counted when the next one is refused.
TEST_F(Faults, a_step_of_a_captured_run_that_fails_is_taken_back) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu, {{&adamw, list, Scalars().setData("t", t.data(), "i64", 1, true)}}),
      reference(context(), onCpu, {{&adamw, list}});
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] {
    ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", 2, 701));
    EXPECT_FAULT(fw_plan_run(trial.plan(), nullptr, 0, stream, nullptr), FW_DEVICE,
                 "LAUNCH_OUT_OF_RESOURCES");
    trial.run({}, stream);
  });
  EXPECT_EQ(graph.nodes(), 4u);
  for (int run = 1; run <= 2; ++run) {
    graph.launch(stream);
    reference.run(step(run));
  }
  expectSame(trial, reference, stream);
  EXPECT_EQ(t.read(), std::vector<int64_t>{2});
}

TEST_F(Faults, a_step_that_cannot_be_taken_back_is_told) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu, {{&adamw, list, Scalars().setData("t", t.data(), "i64", 1, true)}});
  gpu.fake.fault_launch(1, cuda::LAUNCH_FAILED);
  EXPECT_FAULT(runOf(trial.plan(), {}), FW_DEVICE, "counted for it cannot be taken back");
  EXPECT_FAULT(runOf(trial.plan(), {}), FW_DEVICE, "of earlier work");
  EXPECT_EQ(api::lastError().find("taken back"), std::string::npos) << "nothing was counted";
  gpu.fake.heal();
  EXPECT_EQ(t.read(), std::vector<int64_t>{1});
  EXPECT_EQ(trial.image(), trial.arena().bytes);
}

/// Two programs that count one step: the kernel of the second is refused.
TEST_F(Faults, a_run_that_stops_between_programs_says_what_is_done) {
  const Kernel &adamw = compiled("adamw"), &narrow = compiled("adamw_grad_bf16");
  for (bool isFirstEmpty : {false, true}) {
    Numbers<int64_t> t(context(), onGpu, {0});
    const Scalars counts = Scalars().setData("t", t.data(), "i64", 1, true);
    const List first = isFirstEmpty ? vectors({0}) : list;
    Trial trial(context(), onGpu, {{&adamw, first, counts}, {&narrow, list, counts}});
    ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", isFirstEmpty ? 3 : 4, 701));
    EXPECT_FAULT(runOf(trial.plan(), {}), FW_DEVICE,
                 isFirstEmpty ? "LAUNCH_OUT_OF_RESOURCES" : "some groups have had this step");
    EXPECT_EQ(t.read(), std::vector<int64_t>{isFirstEmpty ? 0 : 1});
    EXPECT_EQ(trial.arena(0).check(trial.image(0), step(1)), "");
    EXPECT_EQ(trial.image(1), trial.arena(1).bytes);
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

TEST_F(Faults, a_failed_copy_of_scalars_is_made_up_for) {
  const Kernel &adamw = compiled("adamw");
  const List many = vectors(Sizes(40, 5));
  Trial trial(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
  std::vector<double> rates(40, 1);
  for (double first : {2, 3}) {
    rates[0] = first;
    const int failures = failEvery(
        "cuMemcpyHtoDAsync_v2", 999, FW_DEVICE,
        [&] { return runOf(trial.plan(), step(1).set("lr", rates)); }, [] {});
    EXPECT_EQ(failures, 1);
    reference.run(step(1).set("lr", rates));
    expectSame(trial, reference);
  }
}

/// Tables go to the device in pieces; one that stopped halfway holds neither what it held nor what
/// it should.
TEST_F(Faults, a_copy_that_stops_halfway_is_made_again) {
  const Kernel &adamw = compiled("adamw");
  const size_t count = 2500;
  const List many = vectors(Sizes(count, 1));
  const std::vector<double> ones(count, 1);
  std::vector<double> first = ones, second(count, 2);
  first[count - 1] = second[0] = 3;
  Numbers<int64_t> t(context(), onGpu, {1});
  const Scalars onHost = step(1), resident = Scalars().setData("t", t.data(), "i64");
  for (const Scalars &how : {onHost, resident}) {
    Trial trial(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
    auto with = [&](const std::vector<double> &rates) { return Scalars(how).set("lr", rates); };
    EXPECT_OK(runOf(trial.plan(), with(first)));
    ASSERT_TRUE(gpu.fake.fail("cuMemcpyHtoDAsync_v2", 2, 999));
    EXPECT_FAULT(runOf(trial.plan(), with(second)), FW_DEVICE, "CUDA_ERROR_UNKNOWN");
    EXPECT_OK(runOf(trial.plan(), with(first)));
    for (int run = 0; run < 2; ++run)
      reference.run(step(1).set("lr", first));
    expectSame(trial, reference);
  }
}

TEST_F(Faults, plans_may_end_before_their_work) {
  Arena arena(compiled("adamw"), list, 1);
  Block block(context(), onGpu, arena.bytes);
  cuda::Stream stream;
  {
    FreshContext fresh;
    auto adamw = makeKernel(fresh, "adamw");
    GroupArray groups(onGpu);
    groups.add(*adamw, arena.tensors(block.data(), FW_DEVICE_CUDA));
    api::Plan plan = api::make<api::Plan>(
        [&](fw_plan **out) { return fw_plan_create(fresh, groups.array().data(), 1, out); });
    EXPECT_OK(fw_plan_run(plan.get(), step(1).array().data(), 1, stream, nullptr));
  }
  EXPECT_EQ(arena.check(block.read(stream), step(1)), "");
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
