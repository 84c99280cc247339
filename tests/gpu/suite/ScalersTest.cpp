// Loss scalers on a GPU: the states of the CPU's, with no wait, in graphs too.
#include "tests/gpu/suite/Trial.h"

#include <algorithm>
#include <random>

namespace suite {
namespace {

constexpr int steps = 200;

/// What an optimizer reports of a step: mostly that it was applied.
float randomReport(std::mt19937 &random) {
  switch (std::uniform_int_distribution(0, 9)(random)) {
  case 0:
    return float(1 + random() % 40);
  case 1:
    return std::numeric_limits<float>::infinity();
  case 2:
    return -1;
  case 3: { // of others than guard
    const float foreign[] = {std::numeric_limits<float>::quiet_NaN(), 1.5f, 0x1p-149f, -7, 0x1p24f};
    return foreign[random() % std::size(foreign)];
  }
  default:
    return 0;
  }
}

bool isSame(const fw_scaler_state &a, const fw_scaler_state &b) {
  return std::equal(reinterpret_cast<const char *>(&a), reinterpret_cast<const char *>(&a + 1),
                    reinterpret_cast<const char *>(&b));
}

/// A scaler and the reports that it reads, on one device.
class Scaler {
public:
  Scaler(fw_context *context, Place place, size_t count = 1)
      : reports(context, place, std::vector<float>(count)) {
    fw_scaler_options options;
    fw_scaler_options_init(&options);
    options.device = place.device == FW_DEVICE_CPU ? "cpu" : "cuda:0";
    options.growth_factor = 1.7;
    options.backoff_factor = 0.3;
    options.growth_interval = 4;
    options.hysteresis = 2;
    made = api::make<Handle>(
        [&](fw_scaler **out) { return fw_scaler_create(context, &options, out); });
  }
  operator fw_scaler *() const { return made.get(); }

  void report(const std::vector<float> &values, cuda::Handle stream = nullptr) {
    reports.write(values, stream);
  }
  void update(cuda::Handle stream = nullptr) {
    std::vector<const void *> addresses;
    for (size_t i = 0; i < reports.count; ++i)
      addresses.push_back(reports.data() + i);
    EXPECT_OK(fw_scaler_update(*this, addresses.data(), addresses.size(), stream));
  }
  fw_scaler_state read() const {
    fw_scaler_state state = {};
    state.struct_size = sizeof state;
    EXPECT_OK(fw_scaler_read(*this, &state));
    return state;
  }
  /// Behind everything on the stream.
  fw_scaler_state state(cuda::Handle stream = nullptr) const {
    EXPECT_OK(fw_scaler_wait(*this, stream));
    return read();
  }
  std::vector<fw_scalar> save(cuda::Handle stream = nullptr) const {
    size_t count = 0;
    EXPECT_OK(fw_scaler_save(*this, nullptr, 0, &count, stream));
    std::vector<fw_scalar> numbers(count);
    for (fw_scalar &number : numbers)
      number.struct_size = sizeof number;
    EXPECT_OK(fw_scaler_save(*this, numbers.data(), count, &count, stream));
    return numbers;
  }
  Numbers<float> reports;

private:
  using Handle = std::unique_ptr<fw_scaler, api::Destroy<fw_scaler_destroy>>;
  Handle made;
};

class Scalers : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && gpu.isFake)
      gpu.fake.useTwins(programRow("scale"), gpu.targets[0]); // fw_scalars comes with it
  }
  std::mt19937 random{2018};
};

TEST_F(Scalers, states_are_those_of_the_cpu) {
  Scaler onDevice(context(), onGpu), reference(context(), onCpu);
  cuda::Stream stream;
  for (int step = 0; step < steps; ++step) {
    const float report = randomReport(random);
    onDevice.report({report}, stream);
    reference.report({report});
    onDevice.update(stream);
    reference.update();
    ASSERT_TRUE(isSame(onDevice.state(stream), reference.read())) << "step " << step;
  }
}

TEST_F(Scalers, replays_of_a_captured_update_go_on) {
  Scaler onDevice(context(), onGpu, 3), reference(context(), onCpu, 3);
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { onDevice.update(stream); });
  EXPECT_EQ(onDevice.state(stream).updates, 0u) << "a capture runs nothing";
  for (int step = 0; step < steps; ++step) {
    const std::vector<float> reports = {randomReport(random), randomReport(random),
                                        randomReport(random)};
    onDevice.report(reports, stream);
    reference.report(reports);
    graph.launch(stream);
    reference.update();
    ASSERT_TRUE(isSame(onDevice.state(stream), reference.read())) << "step " << step;
  }
}

TEST_F(Scalers, a_captured_update_keeps_its_addresses) {
  Scaler onDevice(context(), onGpu);
  Numbers<float> other(context(), onGpu, {5});
  const void *address = other.data();
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { onDevice.update(stream); });
  EXPECT_OK(fw_scaler_update(onDevice, &address, 1, stream));
  EXPECT_EQ(onDevice.state(stream).tensor, 4);
  graph.launch(stream);
  EXPECT_EQ(onDevice.state(stream).outcome, FW_STEP_APPLIED);
  EXPECT_OK(fw_scaler_update(onDevice, &address, 1, stream));
  EXPECT_EQ(onDevice.state(stream).skips, 2u);
}

TEST_F(Scalers, an_update_is_one_launch_and_sends_no_table) {
  FreshContext fresh;
  Scaler scaler(fresh, onGpu);
  cuda::Stream stream;
  scaler.update(stream);
  const fw_counters before = fresh.counters();
  for (int step = 0; step < 10; ++step)
    scaler.update(stream);
  const fw_counters after = fresh.counters();
  EXPECT_EQ(after.launches - before.launches, 10u);
  EXPECT_EQ(after.table_uploads, before.table_uploads);
  EXPECT_EQ(scaler.state(stream).updates, 11u);
}

TEST_F(Scalers, plans_read_the_scale_where_it_is) {
  const List list = vectors({3, 700});
  const Kernel &scale = compiled("scale");
  Trial onDevice(context(), onGpu, {{&scale, list}}), reference(context(), onCpu, {{&scale, list}});
  Scaler scaler(context(), onGpu);
  fw_scalar factor = {};
  factor.struct_size = sizeof factor;
  ASSERT_OK(fw_scaler_scalar(scaler, &factor));
  EXPECT_STREQ(factor.name, "all.scale");
  factor.name = "a"; // the hyper-parameter of the op
  cuda::Stream stream;
  scaler.report({1}, stream);
  for (double expected : {65536.0, 65536.0, double(float(0.3 * 65536))}) {
    EXPECT_OK(fw_plan_run(onDevice.plan(), &factor, 1, stream, nullptr));
    reference.run(suite::Scalars().set("a", expected));
    expectSame(onDevice, reference, stream);
    scaler.update(stream); // hysteresis forgives the first
  }
}

TEST_F(Scalers, saved_state_goes_from_a_gpu_to_the_cpu_and_back) {
  Scaler onDevice(context(), onGpu), reference(context(), onCpu), resumed(context(), onGpu);
  for (int step = 0; step < 30; ++step) {
    onDevice.report({randomReport(random)});
    onDevice.update();
  }
  const std::vector<fw_scalar> numbers = onDevice.save();
  EXPECT_OK(fw_scaler_load(reference, numbers.data(), numbers.size(), nullptr));
  EXPECT_TRUE(isSame(reference.read(), onDevice.state()));
  const std::vector<fw_scalar> again = reference.save();
  EXPECT_OK(fw_scaler_load(resumed, again.data(), again.size(), nullptr));
  EXPECT_TRUE(isSame(resumed.read(), onDevice.read()));
  for (Scaler *scaler : {&onDevice, &resumed}) {
    scaler->report({9});
    scaler->update();
  }
  EXPECT_TRUE(isSame(resumed.state(), onDevice.state()));
}

TEST_F(Scalers, what_waits_is_refused_in_a_capture) {
  Scaler scaler(context(), onGpu);
  const std::vector<fw_scalar> numbers = scaler.save();
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] {
    size_t count = 0;
    fw_scalar room[9] = {};
    room[0].struct_size = sizeof room[0];
    EXPECT_FAULT(fw_scaler_wait(scaler, stream), FW_USAGE,
                 "expected a stream that is not captured");
    EXPECT_FAULT(fw_scaler_save(scaler, room, 9, &count, stream), FW_USAGE, "not captured");
    EXPECT_FAULT(fw_scaler_load(scaler, numbers.data(), numbers.size(), stream), FW_USAGE,
                 "not captured");
    scaler.update(stream);
  });
  graph.launch(stream);
  EXPECT_EQ(scaler.state(stream).updates, 1u);
}

TEST_F(Scalers, a_device_that_is_not_there_is_named) {
  fw_scaler_options options;
  fw_scaler_options_init(&options);
  options.device = "cuda:99";
  fw_scaler *none = nullptr;
  EXPECT_FAULT(fw_scaler_create(context(), &options, &none), FW_DEVICE, "99");
}

class FakeScalers : public FakeTest {};

/// The fake driver runs work as late as it may.
TEST_F(FakeScalers, a_read_does_not_wait) {
  gpu.fake.useTwins(programRow("scale"), gpu.targets[0]);
  Scaler scaler(context(), onGpu);
  scaler.report({3});
  cuda::Stream stream;
  scaler.update(stream);
  scaler.update(stream);
  EXPECT_EQ(scaler.read().updates, 0u);
  const size_t told = gpu.told.size();
  EXPECT_EQ(scaler.state(stream).updates, 2u);
  EXPECT_GT(gpu.told.size(), told) << "the log hears of a state that has come";
}

TEST_F(FakeScalers, an_update_that_is_refused_moves_nothing) {
  gpu.fake.useTwins(programRow("scale"), gpu.targets[0]);
  Scaler scaler(context(), onGpu);
  scaler.report({3});
  const int owner = 0;
  EXPECT_OK(fw_scaler_claim(scaler, &owner));
  ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", 1, 701));
  const void *address = scaler.reports.data();
  EXPECT_FAULT(fw_scaler_update(scaler, &address, 1, nullptr), FW_DEVICE,
               "LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EQ(api::lastError().find("queued"), std::string::npos) << api::lastError();
  EXPECT_EQ(scaler.state().updates, 0u);
  EXPECT_FAULT(fw_scaler_claim(scaler, &owner), FW_USAGE, "a second time");
  scaler.update();
  EXPECT_EQ(scaler.state().updates, 1u);
  EXPECT_OK(fw_scaler_claim(scaler, &owner));
}

/// The scale has moved, and only the host does not know.
TEST_F(FakeScalers, an_update_whose_state_does_not_arrive_says_so) {
  gpu.fake.useTwins(programRow("scale"), gpu.targets[0]);
  Scaler scaler(context(), onGpu);
  const void *address = scaler.reports.data();
  const int owner = 0;
  uint64_t updates = 0;
  for (bool isWaitedFor : {true, false}) {
    scaler.report({3});
    EXPECT_OK(fw_scaler_claim(scaler, &owner));
    const size_t told = gpu.told.size();
    ASSERT_TRUE(gpu.fake.fail("cuMemcpyDtoHAsync_v2", 1, 999));
    EXPECT_FAULT(fw_scaler_update(scaler, &address, 1, nullptr), FW_DEVICE,
                 "behind an update that is queued: the scale moves, but the host sees the state "
                 "before it; ");
    EXPECT_NE(api::lastError().find("fw_scaler_wait or the next update brings the state"),
              std::string::npos)
        << api::lastError();
    EXPECT_OK(fw_scaler_claim(scaler, &owner)) << "the step is taken";
    EXPECT_CUDA(cuStreamSynchronize(nullptr));
    EXPECT_EQ(scaler.read().updates, updates);
    EXPECT_EQ(gpu.told.size(), told) << "the log has seen nothing";
    if (!isWaitedFor) {
      scaler.update();
      ++updates;
    }
    EXPECT_EQ(scaler.state().updates, ++updates);
    EXPECT_EQ(scaler.read().skips, updates);
    EXPECT_GT(gpu.told.size(), told);
    EXPECT_OK(fw_scaler_release(scaler, &owner));
  }
  ASSERT_TRUE(gpu.fake.fail("cuMemcpyDtoHAsync_v2", 1, 999));
  EXPECT_FAULT(fw_scaler_wait(scaler, nullptr), FW_DEVICE, "sending the state of a loss scaler");
  EXPECT_EQ(api::lastError().find("queued"), std::string::npos) << api::lastError();
}

} // namespace
} // namespace suite
