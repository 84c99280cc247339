// Steps of several passes as plans: norm, unscale, clip, step and guard.
#include "tests/gpu/suite/Trial.h"

#include <cmath>

namespace suite {
namespace {

const char *const guarded = "adamw_unscale_clip_guard", *const guardedNarrow =
                                                            "adamw_grad_bf16_unscale_clip_guard";
const List list = vectors({3, 0, 700, 33}), otherList = vectors({64, 0, 5});

/// Every number that is written is near the other's.
void expectNear(const Trial &got, const Trial &expected, size_t groups = 1) {
  for (size_t g = 0; g < groups; ++g)
    for (const OperandInfo &operand : got.arena(g).kernel.operands) {
      if (!operand.written || (g > 0 && operand.isOfAll()))
        continue;
      const auto numbers = got.arena(g).numbers(got.image(g), operand.name);
      const auto wanted = expected.arena(g).numbers(expected.image(g), operand.name);
      ASSERT_EQ(numbers.size(), wanted.size());
      for (size_t i = 0; i < numbers.size(); ++i)
        if (!(std::isnan(numbers[i]) && std::isnan(wanted[i])) && numbers[i] != wanted[i])
          ASSERT_NEAR(numbers[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i])))
              << operand.name << " of group " << g << ", element " << i;
    }
}

class Stages : public GpuTest {
protected:
  std::vector<GroupSpec> twoSets(const Scalars &scalars = {}) const {
    return {{&compiled(guarded), list, scalars, Values::USUAL},
            {&compiled(guardedNarrow), otherList, scalars, Values::USUAL}};
  }
  double number(const Trial &trial, const std::string &operand) const {
    return trial.arena().numbers(trial.image(), operand).front();
  }
  /// Points the gradients of group 1 at others, which have infinities among them.
  void pointAtBad(Trial &trial, const Block &block, const Arena &bad) const {
    std::vector<void *> addresses;
    for (size_t entry = 0; entry < otherList.size(); ++entry)
      addresses.push_back(static_cast<char *>(block.data()) +
                          bad.offset(entry, bad.kernel.operand("g")));
    EXPECT_OK(fw_plan_set_pointers(trial.plan(), 1, "g", addresses.data(), addresses.size()));
  }
  void pointBack(Trial &trial) const {
    std::vector<void *> addresses = trial.addresses(1, "g");
    EXPECT_OK(fw_plan_set_pointers(trial.plan(), 1, "g", addresses.data(), addresses.size()));
  }
};

TEST_F(Stages, a_whole_step_is_two_launches) {
  const Kernel &kernel = compiled(guarded);
  Numbers<int64_t> t(context(), onGpu, {0});
  Numbers<float> scale(context(), onGpu, {8});
  const Scalars resident =
      Scalars().setData("t", t.data(), "i64", 1, true).setData("all.scale", scale.data(), "f32");
  Trial trial(context(), onGpu, {{&kernel, list, resident, Values::USUAL}}),
      reference(context(), onCpu, {{&kernel, list, {}, Values::USUAL}});
  EXPECT_EQ(trial.info().launches, 2u);
  trial.run();
  const uint64_t workspace = trial.info().workspace_bytes;
  const fw_counters before = FreshContext::countersOf(context());
  for (int run = 2; run <= 11; ++run)
    trial.run();
  const fw_counters after = FreshContext::countersOf(context());
  EXPECT_EQ(after.launches - before.launches, 20u);
  EXPECT_EQ(after.table_uploads, before.table_uploads);
  EXPECT_EQ(after.modules, before.modules);
  EXPECT_EQ(trial.info().workspace_bytes, workspace);
  EXPECT_EQ(t.read(), std::vector<int64_t>{11});
  for (int run = 1; run <= 11; ++run)
    reference.run(step(run).set("all.scale", 8));
  expectNear(trial, reference);
}

TEST_F(Stages, two_dtype_sets_are_two_launches_a_stage) {
  Trial trial(context(), onGpu, twoSets()), reference(context(), onCpu, twoSets());
  EXPECT_EQ(trial.info().launches, 4u);
  for (int run = 1; run <= 3; ++run)
    for (Trial *each : {&trial, &reference})
      each->run(step(run).set("all.scale", 4).set("all.max_norm", 0.5));
  expectNear(trial, reference, 2);
  EXPECT_GT(number(trial, "all.norm"), 1);
  EXPECT_EQ(number(trial, "all.skipped"), 0);
}

TEST_F(Stages, a_skipped_step_changes_no_byte_and_is_not_counted) {
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu, twoSets(Scalars().setData("t", t.data(), "i64", 1, true))),
      reference(context(), onCpu, twoSets());
  const Arena bad(compiled(guardedNarrow), otherList, 99);
  Block block(context(), onGpu, bad.bytes);
  int64_t steps = 0;
  for (bool isBad : {false, true, true, false, true}) {
    std::vector<Bytes> before = trial.images();
    if (isBad)
      pointAtBad(trial, block, bad);
    else
      pointBack(trial);
    trial.run();
    steps += !isBad;
    EXPECT_EQ(t.read(), std::vector<int64_t>{steps});
    if (!isBad) {
      reference.run(step(double(steps)));
      continue;
    }
    EXPECT_EQ(number(trial, "all.skipped"), 5) << "the first entry of group 1 has the number 4";
    for (const char *report : {"all.norm", "all.skipped"}) {
      const size_t at = trial.arena().offset(0, trial.arena().kernel.operand(report));
      std::memcpy(&before[0][at], &trial.image()[at], sizeof(float));
    }
    EXPECT_EQ(trial.images(), before);
  }
  pointBack(trial);
  trial.run(Scalars().set("all.skip", 1));
  EXPECT_EQ(number(trial, "all.skipped"), -1);
  EXPECT_EQ(t.read(), std::vector<int64_t>{steps});
  trial.run();
  reference.run(step(double(steps + 1)));
  expectNear(trial, reference, 2);
}

TEST_F(Stages, replays_are_steps_beside_eager_ones) {
  Numbers<int64_t> t(context(), onGpu, {0}), other(context(), onGpu, {0});
  Trial trial(context(), onGpu, twoSets(Scalars().setData("t", t.data(), "i64", 1, true))),
      reference(context(), onGpu, twoSets(Scalars().setData("t", other.data(), "i64", 1, true)));
  cuda::Stream stream;
  trial.run({}, stream);
  cuda::Graph graph(stream, [&] { trial.run({}, stream); });
  EXPECT_EQ(graph.nodes(), 4u);
  const uint64_t captured = trial.info().workspace_bytes;
  for (int run = 0; run < 3; ++run) {
    graph.launch(stream);
    trial.run({}, stream);
  }
  const uint64_t both = trial.info().workspace_bytes;
  EXPECT_GT(both, captured) << "what a graph writes is its own";
  trial.run({}, stream);
  EXPECT_EQ(trial.info().workspace_bytes, both);
  for (int run = 0; run < 8; ++run)
    reference.run({}, stream);
  stream.synchronize();
  EXPECT_EQ(trial.images(), reference.images());
  EXPECT_EQ(t.read(), std::vector<int64_t>{8});
}

TEST_F(Stages, numbers_of_tensors_are_read_and_written) {
  const Kernel *plain = &compiled("trust_ratio_f64"), *half = &compiled("trust_ratio_f16"),
               *brain = &compiled("trust_ratio_bf16");
  // Launches: the last block of a kernel that rounds as both programs do finishes, or fw_scalars.
  const struct {
    const Kernel *first, *second;
    uint32_t launches;
  } pairs[] = {{plain, half, 4}, {half, plain, 4}, {half, brain, 6}, {half, half, 2}};
  for (const auto &pair : pairs) {
    const std::vector<GroupSpec> groups = {{pair.first, list, {}, Values::USUAL},
                                           {pair.second, {}, {}, Values::USUAL},
                                           {pair.second, otherList, {}, Values::USUAL}};
    Trial trial(context(), onGpu, groups), reference(context(), onCpu, groups);
    EXPECT_EQ(trial.info().launches, pair.launches);
    for (int run = 1; run <= 3; ++run)
      for (Trial *each : {&trial, &reference})
        each->run(step(run));
    expectNear(trial, reference, 3);
    EXPECT_EQ(trial.arena(2).numbers(trial.image(2), "place"),
              (std::vector<double>{4 + 805, 5 + 805, 6 + 805}));
  }
}

/// A group without tensors has no scalars of its own where every tensor has some.
TEST_F(Stages, groups_without_tensors) {
  const std::vector<std::string> programs = {"adamw", guarded};
  for (const std::string &program : programs)
    for (bool isOnDevice : {false, true}) {
      SCOPED_TRACE(program);
      const Kernel &kernel = compiled(program);
      const std::vector<GroupSpec> groups = {{&kernel, {}, {}, Values::USUAL},
                                             {&kernel, list, {}, Values::USUAL},
                                             {&kernel, {}, {}, Values::USUAL},
                                             {&kernel, otherList, {}, Values::USUAL},
                                             {&kernel, {}, {}, Values::USUAL}};
      Trial trial(context(), onGpu, groups), reference(context(), onCpu, groups);
      Numbers<int64_t> t(context(), onGpu, {2});
      const std::vector<double> rates = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
      trial.run((isOnDevice ? Scalars().setData("t", t.data(), "i64") : step(2)).set("lr", rates));
      reference.run(step(2).set("lr", rates));
      expectNear(trial, reference, 5);
    }
}

// --- Other ranks ---------------------------------------------------------------------------------

/// A world of two ranks that hold the same numbers.
struct Twin {
  std::vector<std::string> calls = {};
  fw_status answer = FW_OK;

  static fw_status reduce(void *self, void *data, size_t count, const char *dtype, const char *kind,
                          fw_stream stream) {
    Twin &twin = *static_cast<Twin *>(self);
    twin.calls.push_back(std::string(kind) + " " + std::to_string(count) + " " + dtype);
    if (twin.answer != FW_OK)
      return twin.answer;
    const uint64_t at = reinterpret_cast<uint64_t>(data);
    std::vector<double> numbers(count);
    EXPECT_CUDA(cuMemcpyDtoHAsync_v2(numbers.data(), at, count * sizeof(double), stream));
    EXPECT_CUDA(cuStreamSynchronize(stream));
    for (double &number : numbers)
      number *= std::string(kind) == "sum" ? 2 : 1;
    EXPECT_CUDA(cuMemcpyHtoDAsync_v2(at, numbers.data(), count * sizeof(double), stream));
    return FW_OK;
  }
  fw_world world() {
    fw_world world = {};
    world.struct_size = sizeof world;
    world.user_data = this;
    world.all_reduce = reduce;
    return world;
  }
};

TEST_F(Stages, results_of_all_ranks) {
  const Kernel &plain = compiled("extremes"), &narrow = compiled("extremes_x_bf16");
  const std::vector<GroupSpec> both = {{&plain, list, {}, Values::USUAL},
                                       {&narrow, otherList, {}, Values::USUAL}},
                               empty = {{&plain, vectors({0}), {}, Values::USUAL}};
  for (const std::vector<GroupSpec> &groups : {both, empty}) {
    Trial alone(context(), onGpu, groups), trial(context(), onGpu, groups);
    EXPECT_EQ(trial.info().exchanges, 2u);
    Twin twin;
    const fw_world world = twin.world();
    cuda::Stream stream;
    alone.run();
    for (int run = 0; run < 2; ++run)
      trial.run({}, stream, &world);
    stream.synchronize();
    const std::vector<std::string> calls = {"sum 1 f64", "max 2 f64", "sum 1 f64", "max 2 f64"};
    EXPECT_EQ(twin.calls, calls);
    for (const char *same : {"low", "high"})
      EXPECT_EQ(number(trial, same), number(alone, same));
    EXPECT_EQ(number(trial, "total"), 2 * number(alone, "total"));
    for (size_t g = 0; g < groups.size(); ++g)
      EXPECT_EQ(trial.arena(g).numbers(trial.image(g), "y"),
                alone.arena(g).numbers(alone.image(g), "y"));
    trial.run();
    EXPECT_EQ(number(trial, "total"), number(alone, "total")) << "alone again";
  }
}

TEST_F(Stages, a_collective_that_fails_ends_the_run) {
  Numbers<int64_t> t(context(), onGpu, {0});
  const Scalars counts = Scalars().setData("t", t.data(), "i64", 1, true);
  Trial trial(context(), onGpu, twoSets(counts));
  Twin twin{.answer = FW_DEVICE};
  const fw_world world = twin.world();
  const std::vector<Bytes> before = trial.images();
  EXPECT_FAULT(fw_plan_run(trial.plan(), nullptr, 0, nullptr, &world), FW_DEVICE,
               "all_reduce to give FW_OK for kind \"sum\"");
  EXPECT_EQ(trial.images(), before);
  EXPECT_EQ(t.read(), std::vector<int64_t>{0});
  twin.answer = FW_OK;
  trial.run({}, nullptr, &world);
  EXPECT_EQ(t.read(), std::vector<int64_t>{1});
}

// --- What the fake driver can show ---------------------------------------------------------------

class StageCalls : public FakeTest {
protected:
  std::vector<GroupSpec> twoSets(const Scalars &scalars) const {
    return {{&compiled(guarded), list, scalars, Values::USUAL},
            {&compiled(guardedNarrow), otherList, scalars, Values::USUAL}};
  }
};

TEST_F(StageCalls, a_steady_step_launches_twice_and_asks_two_questions) {
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu,
              {{&compiled(guarded), list, Scalars().setData("t", t.data(), "i64", 1, true)}});
  cuda::Stream stream;
  trial.run({}, stream);
  gpu.fake.forget_calls();
  trial.run({}, stream);
  EXPECT_STREQ(gpu.fake.call_list(),
               "cuCtxGetCurrent 1, cuLaunchKernel 1, cuLaunchKernelEx 1, cuStreamIsCapturing 1");
}

TEST_F(StageCalls, plans_are_made_whole_or_not_at_all) {
  Numbers<int64_t> t(context(), onGpu, {0});
  const std::vector<GroupSpec> specs = twoSets(Scalars().setData("t", t.data(), "i64", 1, true));
  Trial tensors(context(), onGpu, specs), reference(context(), onGpu, specs);
  GroupArray groups(onGpu);
  groups.add(*specs[0].kernel, tensors.arena(0).tensors(tensors.base(0), FW_DEVICE_CUDA),
             specs[0].scalars);
  std::vector<fw_tensor> second = tensors.arena(1).tensors(tensors.base(1), FW_DEVICE_CUDA);
  const std::vector<fw_tensor> first = tensors.arena(0).tensors(tensors.base(0), FW_DEVICE_CUDA);
  for (size_t shared = 1; shared <= 2; ++shared) // all.norm, all.skipped
    second[second.size() - shared].data = first[first.size() - shared].data;
  groups.add(*specs[1].kernel, second, specs[1].scalars);
  const std::vector<fw_plan_group> array = groups.array();
  const uint64_t bytes = gpu.fake.bytes(0);
  fw_plan *plan = nullptr;
  const int failures = failEvery(
      "cuMemAlloc_v2", cuda::OUT_OF_MEMORY, FW_OUT_OF_MEMORY,
      [&] { return fw_plan_create(context(), array.data(), array.size(), &plan); },
      [&] {
        EXPECT_EQ(plan, nullptr);
        EXPECT_EQ(gpu.fake.bytes(0), bytes) << "memory was not given back";
      });
  EXPECT_GT(failures, 20);
  for (const char *function : {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"}) {
    const bool isMemory = std::string(function) == "cuMemAlloc_v2";
    const std::vector<Bytes> before = tensors.images();
    const std::vector<int64_t> steps = t.read();
    failEvery(
        function, isMemory ? cuda::OUT_OF_MEMORY : 999, isMemory ? FW_OUT_OF_MEMORY : FW_DEVICE,
        [&] { return runOf(plan, {}); },
        [&] {
          EXPECT_EQ(tensors.images(), before) << function;
          EXPECT_EQ(t.read(), steps) << function;
        });
  }
  EXPECT_EQ(t.read(), std::vector<int64_t>{2});
  fw_plan_destroy(plan);
  t.write({0});
  for (int run = 0; run < 2; ++run)
    reference.run();
  EXPECT_EQ(tensors.images(), reference.images());
}

/// A launch that the driver refuses: what ran before it has written no tensor.
TEST_F(StageCalls, a_step_that_stops_says_what_it_leaves) {
  for (unsigned nth = 1; nth <= 4; ++nth) {
    Numbers<int64_t> t(context(), onGpu, {0});
    Trial trial(context(), onGpu, twoSets(Scalars().setData("t", t.data(), "i64", 1, true)));
    // The third starts early.
    ASSERT_TRUE(nth == 3 ? gpu.fake.fail("cuLaunchKernelEx", 1, 701)
                         : gpu.fake.fail("cuLaunchKernel", nth - nth / 3, 701));
    EXPECT_FAULT(runOf(trial.plan(), {}), FW_DEVICE,
                 nth <= 2   ? "LAUNCH_OUT_OF_RESOURCES"
                 : nth == 3 ? "behind the scalars of the same run"
                            : "some groups have had this step");
    EXPECT_EQ(t.read(), std::vector<int64_t>{nth > 2});
    if (nth <= 2)
      EXPECT_EQ(trial.images(), (std::vector<Bytes>{trial.arena(0).bytes, trial.arena(1).bytes}));
    EXPECT_EQ(trial.image(1), trial.arena(1).bytes);
    trial.run();
    EXPECT_EQ(t.read(), std::vector<int64_t>{1 + (nth > 2)});
  }
}

/// Compiling inside a capture takes long and may spoil it.
TEST_F(StageCalls, numbers_on_the_device_are_made_ready_before_a_capture) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  const Scalars resident = Scalars().setData("t", t.data(), "i64", 1, true);
  Trial late(context(), onGpu, {{&adamw, list}}),
      early(context(), onGpu, {{&adamw, list, resident}});
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] {
    EXPECT_FAULT(fw_plan_run(late.plan(), resident.array().data(), 1, stream, nullptr), FW_USAGE,
                 "run once before the capture");
    early.run({}, stream);
  });
  EXPECT_EQ(graph.nodes(), 2u);
  late.run(resident, stream);
  cuda::Graph second(stream, [&] { late.run(resident, stream); });
  second.launch(stream);
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(t.read(), std::vector<int64_t>{3});
}

} // namespace
} // namespace suite
