// Numbers that a run reads from the device's memory give what the same host values give, bit for
// bit.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33}), otherList = vectors({64, 5});

class DeviceScalars : public GpuTest {
protected:
  template <class T> Numbers<T> numbers(std::vector<T> values) {
    return Numbers<T>(context(), onGpu, values);
  }

  /// A step that each run counts up, against host values.
  template <class T> void countWith(const char *dtype, const std::string &program) {
    const Kernel &kernel = compiled(program);
    Trial onDevice(context(), onGpu, {{&kernel, list}}),
        reference(context(), onCpu, {{&kernel, list}});
    Numbers<T> t = numbers<T>({4});
    for (int run = 1; run <= 5; ++run) {
      onDevice.run(Scalars().setData("t", t.data(), dtype, 1, true));
      reference.run(Scalars().set("t", 4 + run));
      EXPECT_EQ(t.read(), std::vector<T>{T(4 + run)});
      expectSame(onDevice, reference);
    }
  }
};

TEST_F(DeviceScalars, a_step_of_any_type_counts_the_runs) {
  for (const char *program : {"adamw", "adamw_param_f64_grad_f64_state_f64"}) {
    SCOPED_TRACE(program);
    countWith<float>("f32", program);
    countWith<double>("f64", program);
    countWith<int32_t>("i32", program);
    countWith<int64_t>("i64", program);
  }
}

TEST_F(DeviceScalars, a_learning_rate_follows_memory) {
  const Kernel &adamw = compiled("adamw");
  Trial onDevice(context(), onGpu, {{&adamw, list, Scalars().set("weight_decay", 0.5)}});
  Trial reference(context(), onCpu, {{&adamw, list, Scalars().set("weight_decay", 0.5)}});
  Numbers<float> lr = numbers<float>({0});
  for (float value : {0.1f, 0.01f, 0.0f, 3e-4f}) {
    lr.write({value});
    onDevice.run(Scalars().set("t", 3).setData("lr", lr.data(), "f32"));
    reference.run(Scalars().set("t", 3).set("lr", value));
    expectSame(onDevice, reference);
  }
}

TEST_F(DeviceScalars, every_tensor_may_count_its_own_steps) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> steps = numbers<int64_t>({0, 7, 3, 40});
  Numbers<float> rates = numbers<float>({0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f});
  const std::vector<GroupSpec> onHost = {{&adamw, list},
                                         {&adamw, otherList, Scalars().set("t", 9)}};
  std::vector<GroupSpec> resident = onHost;
  resident[0].scalars.setData("t", steps.data(), "i64", 4, true);
  Trial onDevice(context(), onGpu, resident), reference(context(), onCpu, onHost);
  for (int run = 1; run <= 3; ++run) {
    onDevice.run(Scalars().setData("lr", rates.data(), "f32", 6));
    Scalars given;
    given.set("t", {0.0 + run, 7.0 + run, 3.0 + run, 40.0 + run, 9, 9});
    std::vector<double> lr;
    for (float rate : rates.read())
      lr.push_back(rate);
    reference.run(given.set("lr", lr));
    expectSame(onDevice, reference);
  }
  EXPECT_EQ(steps.read(), (std::vector<int64_t>{3, 10, 6, 43}));
}

TEST_F(DeviceScalars, more_rows_than_a_block_has_threads) {
  const Kernel &adamw = compiled("adamw");
  const size_t count = 300;
  std::vector<double> steps;
  for (size_t i = 0; i < count; ++i)
    steps.push_back(double(1 + i % 50));
  Numbers<double> resident = numbers<double>(steps);
  const List many = vectors(Sizes(count, 2));
  Trial onDevice(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
  onDevice.run(Scalars().setData("t", resident.data(), "f64", count));
  reference.run(Scalars().set("t", steps));
  expectSame(onDevice, reference);
}

TEST_F(DeviceScalars, a_short_launch_counts_for_a_long_one_behind_it) {
  const Kernel &plain = compiled("adamw"), &narrow = compiled("adamw_grad_bf16");
  const size_t count = 300;
  Numbers<int64_t> resident = numbers<int64_t>(std::vector<int64_t>(count, 4));
  const List one = vectors({5}), many = vectors(Sizes(count, 2));
  const std::vector<GroupSpec> onHost = {{&plain, one, Scalars().set("t", 5)},
                                         {&narrow, many, Scalars().set("t", 5)}};
  std::vector<GroupSpec> onMemory = onHost;
  onMemory[1].scalars = Scalars().setData("t", resident.data(), "i64", count, true);
  Trial onDevice(context(), onGpu, onMemory), reference(context(), onCpu, onHost);
  onDevice.run();
  reference.run();
  expectSame(onDevice, reference);
  EXPECT_EQ(resident.read(), std::vector<int64_t>(count, 5));
}

TEST_F(DeviceScalars, a_step_that_groups_share_is_counted_once) {
  const Kernel &plain = compiled("adamw"), &narrow = compiled("adamw_grad_bf16");
  Numbers<int32_t> t = numbers<int32_t>({0});
  const Scalars counts = Scalars().setData("t", t.data(), "i32", 1, true);
  const std::vector<GroupSpec> onHost = {{&plain, list}, {&narrow, otherList}, {&plain, otherList}};
  std::vector<GroupSpec> resident = onHost;
  for (GroupSpec &group : resident)
    group.scalars = counts;
  Trial onDevice(context(), onGpu, resident), reference(context(), onCpu, onHost);
  for (int run = 1; run <= 3; ++run) {
    onDevice.run();
    reference.run(Scalars().set("t", run));
    EXPECT_EQ(t.read(), std::vector<int32_t>{run});
    expectSame(onDevice, reference);
  }
}

TEST_F(DeviceScalars, a_step_without_advance_is_only_read) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t = numbers<int64_t>({6});
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  for (int run = 0; run < 2; ++run) {
    onDevice.run(Scalars().setData("t", t.data(), "i64"));
    reference.run(Scalars().set("t", 6));
  }
  expectSame(onDevice, reference);
  EXPECT_EQ(t.read(), std::vector<int64_t>{6});
}

TEST_F(DeviceScalars, host_and_device_numbers_take_turns) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t = numbers<int64_t>({0});
  Trial onDevice(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  for (int run = 1; run <= 4; ++run) {
    onDevice.run(run % 2 ? Scalars().setData("t", t.data(), "i64", 1, true)
                         : Scalars().set("t", 20));
    reference.run(Scalars().set("t", run % 2 ? (run + 1) / 2 : 20));
    expectSame(onDevice, reference);
  }
}

TEST_F(DeviceScalars, steps_of_empty_lists_are_counted) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t = numbers<int64_t>({2});
  Trial empty(context(), onGpu, {{&adamw, vectors({0})}});
  empty.run(Scalars().setData("t", t.data(), "i64", 1, true));
  EXPECT_EQ(t.read(), std::vector<int64_t>{3});
}

TEST_F(DeviceScalars, truth_values) {
  const Kernel &switches = compiled("switches_n_f64");
  Numbers<int32_t> swap = numbers<int32_t>({1}), k = numbers<int32_t>({-3});
  Trial onDevice(context(), onGpu, {{&switches, list}}),
      reference(context(), onCpu, {{&switches, list}});
  onDevice.run(
      Scalars().set("t", 2).setData("swap", swap.data(), "i32").setData("k", k.data(), "i32"));
  reference.run(Scalars().set("t", 2).set("swap", 1).set("k", -3));
  expectSame(onDevice, reference);
}

TEST_F(DeviceScalars, a_steady_run_is_two_launches) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t = numbers<int64_t>({0});
  Trial trial(context(), onGpu, {{&adamw, list, Scalars().setData("t", t.data(), "i64", 1, true)}});
  trial.run();
  const uint64_t workspace = trial.info().workspace_bytes;
  const fw_counters before = FreshContext::countersOf(context());
  for (int run = 0; run < 10; ++run)
    trial.run();
  const fw_counters after = FreshContext::countersOf(context());
  EXPECT_EQ(after.launches - before.launches, 20u);
  EXPECT_EQ(after.table_uploads, before.table_uploads);
  EXPECT_EQ(trial.info().workspace_bytes, workspace);
}

TEST_F(DeviceScalars, wrong_ones_are_told) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> t = numbers<int64_t>({0, 0});
  Trial trial(context(), onGpu, {{&adamw, list}});
  const Bytes before = trial.image();
  auto run = [&](const Scalars &scalars) {
    const auto &given = scalars.array();
    return fw_plan_run(trial.plan(), given.data(), given.size(), nullptr, nullptr);
  };
  EXPECT_FAULT(run(Scalars().setData("t", t.data(), "i16")), FW_USAGE, "got i16");
  EXPECT_FAULT(run(Scalars().setData("t", t.data(), "i64", 3)), FW_USAGE, "got 3");
  EXPECT_FAULT(run(Scalars().setData("t", reinterpret_cast<char *>(t.data()) + 4, "i64")), FW_USAGE,
               "multiple of 8 bytes");
  EXPECT_FAULT(run(Scalars().set("t", 1).setData("lr", t.data(), "f32", 1, true)), FW_USAGE,
               "only the step counts runs");
  auto tensors = trial.arena().tensors(trial.base(), FW_DEVICE_CUDA);
  const Scalars resident = Scalars().setData("t", t.data(), "i64");
  const auto &given = resident.array();
  EXPECT_FAULT(fw_launch(context(), adamw.gpu.get(), tensors.data(), tensors.size(), given.data(),
                         given.size(), nullptr),
               FW_USAGE, "host value in a one-shot launch");
  EXPECT_EQ(trial.image(), before);
}

} // namespace
} // namespace suite
