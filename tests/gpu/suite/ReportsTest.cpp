// What a step tells of numbers that it cannot use, and of a run that stops in its middle.
#include "tests/gpu/suite/Trial.h"

#include <algorithm>
#include <cmath>

namespace suite {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const char *const guarded = "adamw_unscale_clip_guard";
const List list = vectors({3, 0, 700, 33}), otherList = vectors({64, 0, 5});

class Reports : public GpuTest {
protected:
  double report(const Trial &trial) const {
    return trial.arena().numbers(trial.image(), "all.skipped").front();
  }
  /// No element of any operand.
  void expectUnchanged(const Trial &trial) const {
    for (const OperandInfo &operand : trial.arena().kernel.operands)
      if (operand.isElement()) {
        const size_t k = trial.arena().kernel.operand(operand.name);
        EXPECT_EQ(trial.arena().words(trial.image(), k),
                  trial.arena().words(trial.arena().bytes, k))
            << operand.name;
      }
  }
};

/// Numbers in memory come unchecked, so the step checks them.
TEST_F(Reports, a_scalar_outside_its_range_skips_the_step) {
  const Kernel &kernel = compiled(guarded);
  const struct {
    const char *scalar;
    float value;
    double report;
  } rows[] = {{"all.max_norm", NAN, -2},  {"all.max_norm", -1, -2},     {"all.scale", -4, -2},
              {"all.scale", 0, infinity}, {"all.scale", NAN, infinity}, {"all.max_norm", 0.5, 0}};
  for (const auto &row : rows) {
    SCOPED_TRACE(testing::Message() << row.scalar << " = " << row.value);
    std::vector<double> reports;
    for (const Place place : {onCpu, onGpu}) {
      Numbers<float> number(context(), place, {row.value});
      Numbers<int64_t> t(context(), place, {0});
      Trial trial(context(), place, {{&kernel, list, {}, Values::USUAL}});
      trial.run(Scalars()
                    .setData("t", t.data(), "i64", 1, true)
                    .setData(row.scalar, number.data(), "f32"));
      EXPECT_EQ(report(trial), row.report);
      EXPECT_EQ(t.read().front(), row.report == 0);
      if (row.report != 0)
        expectUnchanged(trial);
    }
  }
}

TEST_F(Reports, several_values_of_what_is_one_are_refused) {
  const Kernel &kernel = compiled(guarded);
  Trial trial(context(), onGpu, {{&kernel, list, {}, Values::USUAL}});
  Numbers<float> numbers(context(), onGpu, {1, 2, 3, 4});
  for (const char *name : {"all.scale", "all.max_norm", "all.skip"}) {
    const std::string words =
        std::string(name) + ": expected one value for all tensors, got several";
    EXPECT_FAULT(runOf(trial.plan(), step(1).set(name, std::vector<double>{1, 2, 3, 4})), FW_USAGE,
                 words);
    EXPECT_FAULT(runOf(trial.plan(), step(1).setData(name, numbers.data(), "f32", 4)), FW_USAGE,
                 words);
  }
  EXPECT_EQ(trial.image(), trial.arena().bytes);
}

/// Other ranks whose collective gives one number for all of a kind.
struct Broken {
  std::string kind;
  double number;
  bool isOnCpu = false;

  static fw_status reduce(void *self, void *data, size_t count, const char *, const char *kind,
                          fw_stream stream) {
    const Broken &broken = *static_cast<Broken *>(self);
    if (kind != broken.kind)
      return FW_OK;
    const std::vector<double> numbers(count, broken.number);
    if (broken.isOnCpu) {
      std::ranges::copy(numbers, static_cast<double *>(data));
      return FW_OK;
    }
    EXPECT_CUDA(cuMemcpyHtoDAsync_v2(reinterpret_cast<uint64_t>(data), numbers.data(),
                                     count * sizeof(double), stream));
    EXPECT_CUDA(cuStreamSynchronize(stream));
    return FW_OK;
  }
};

TEST_F(Reports, what_a_broken_collective_gives_is_a_skip) {
  const struct {
    const char *program;
    Broken broken;
    double report;
  } rows[] = {{guarded, {"sum", NAN}, infinity}, {guarded, {"sum", -1}, infinity},
              {guarded, {"max", NAN}, -3},       {guarded, {"max", infinity}, -3},
              {"lion_guard", {"max", NAN}, -3},  {"lion_guard", {"max", 1}, -3},
              {"lion_guard", {"max", -2}, 3},    {"lion_guard", {"max", -infinity}, 0}};
  for (const auto &row : rows) {
    SCOPED_TRACE(testing::Message() << row.broken.kind << " gives " << row.broken.number);
    const Kernel &kernel = compiled(row.program);
    for (const Place place : {onCpu, onGpu}) {
      Broken broken = row.broken;
      broken.isOnCpu = place.device == FW_DEVICE_CPU;
      fw_world world = {};
      world.struct_size = sizeof world;
      world.user_data = &broken;
      world.all_reduce = Broken::reduce;
      Trial trial(context(), place, {{&kernel, list, {}, Values::USUAL}});
      trial.run(kernel.step().empty() ? Scalars() : step(1), nullptr, &world);
      EXPECT_EQ(report(trial), row.report);
      if (row.report != 0)
        expectUnchanged(trial);
    }
  }
}

TEST_F(Reports, kernels_say_what_a_launch_takes) {
  for (const char *name : {"adamw", "adamw_grad_bf16", guarded, "extremes", "trust_ratio_f64"}) {
    const Kernel &kernel = compiled(name);
    bool isTaken = true;
    for (size_t i = 0; i < fw_program_kernel_count(kernel.gpu.get()); ++i) {
      fw_kernel_info info = {};
      info.struct_size = sizeof info;
      EXPECT_OK(fw_program_kernel(kernel.gpu.get(), i, &info));
      isTaken = isTaken && info.one_pass;
    }
    Trial trial(context(), onGpu, {{&kernel, list}});
    auto tensors = trial.arena().tensors(trial.base(), FW_DEVICE_CUDA);
    const Scalars scalars = step(1);
    const size_t count = kernel.step().empty() ? 0 : 1;
    const fw_status status = fw_launch(context(), kernel.gpu.get(), tensors.data(), tensors.size(),
                                       scalars.array().data(), count, nullptr);
    EXPECT_EQ(status == FW_OK, isTaken) << name << ": " << api::lastError();
  }
}

// --- What the fake driver can show ---------------------------------------------------------------

class Stopped : public FakeTest {};

/// Scalars of two dtype sets whose kernels cannot finish them: two launches of fw_scalars, that of
/// the first set last.
TEST_F(Stopped, between_scalars_the_groups_that_have_theirs_are_told) {
  const Kernel &half = compiled("trust_ratio_f16"), &brain = compiled("trust_ratio_bf16");
  const std::vector<GroupSpec> groups = {{&half, list, {}, Values::USUAL},
                                         {&brain, otherList, {}, Values::USUAL},
                                         {&half, otherList, {}, Values::USUAL},
                                         {&brain, otherList, {}, Values::USUAL}};
  const char *all = "the operands that have one value per tensor or in all, and the step, may be";
  const struct {
    unsigned nth;
    std::vector<const char *> words;
    std::vector<size_t> written;
  } rows[] = {{3, {"LAUNCH_OUT_OF_RESOURCES"}, {}},
              {4, {"behind scalars of the same run: in group 1, 3 the operands"}, {1, 3}},
              {5, {"behind the scalars of the same run", all}, {0, 1, 2, 3}}};
  for (const auto &row : rows) {
    SCOPED_TRACE(row.nth);
    Numbers<int64_t> t(context(), onGpu, {0});
    Trial trial(context(), onGpu, groups);
    ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", row.nth, 701));
    EXPECT_FAULT(runOf(trial.plan(), Scalars().setData("t", t.data(), "i64", 1, true)), FW_DEVICE,
                 "LAUNCH_OUT_OF_RESOURCES");
    for (const char *words : row.words)
      EXPECT_NE(api::lastError().find(words), std::string::npos) << api::lastError();
    if (row.written.empty()) {
      EXPECT_EQ(api::lastError().find("behind"), std::string::npos) << api::lastError();
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool isTold = std::ranges::count(row.written, g) > 0;
      EXPECT_EQ(trial.image(g) != trial.arena(g).bytes, isTold) << "group " << g;
    }
    const bool isWhole = row.written.size() == groups.size();
    EXPECT_EQ(t.read().front(), isWhole);
    EXPECT_EQ(trial.arena().numbers(trial.image(), "seen") !=
                  trial.arena().numbers(trial.arena().bytes, "seen"),
              isWhole);
  }
}

/// Where no scalar has left anything but the plan's own memory.
TEST_F(Stopped, between_scalars_that_write_nothing_nothing_is_told) {
  const std::vector<GroupSpec> groups = {{&compiled("extremes"), list, {}, Values::USUAL},
                                         {&compiled("extremes_x_bf16"), list, {}, Values::USUAL}};
  struct Alone {
    static fw_status reduce(void *, void *, size_t, const char *, const char *, fw_stream) {
      return FW_OK;
    }
  };
  fw_world world = {};
  world.struct_size = sizeof world;
  world.all_reduce = Alone::reduce;
  Trial probe(context(), onGpu, groups);
  probe.run({}, nullptr, &world);
  const uint32_t launches = probe.info().launches; // the last two are kernels that write
  for (unsigned nth = 1; nth <= launches - 2; ++nth) {
    Trial trial(context(), onGpu, groups);
    ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", nth, 701));
    EXPECT_FAULT(fw_plan_run(trial.plan(), nullptr, 0, nullptr, &world), FW_DEVICE,
                 "LAUNCH_OUT_OF_RESOURCES");
    EXPECT_EQ(api::lastError().find("behind"), std::string::npos) << api::lastError();
    for (size_t g = 0; g < groups.size(); ++g)
      EXPECT_EQ(trial.image(g), trial.arena(g).bytes) << "group " << g;
    trial.run({}, nullptr, &world);
    EXPECT_EQ(trial.image(0), probe.image(0)) << "as if it had not been";
  }
}

TEST_F(Stopped, launches_are_counted_where_a_run_fails_too) {
  FreshContext fresh;
  auto adamw = makeKernel(fresh, "adamw");
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(fresh, onGpu, {{adamw.get(), list, Scalars().setData("t", t.data(), "i64")}});
  EXPECT_OK(runOf(trial.plan(), {}));
  EXPECT_EQ(fresh.counters().launches, 2u);
  ASSERT_TRUE(gpu.fake.fail("cuLaunchKernel", 2, 701));
  EXPECT_FAULT(runOf(trial.plan(), {}), FW_DEVICE, "LAUNCH_OUT_OF_RESOURCES");
  EXPECT_EQ(fresh.counters().launches, 4u) << "the refused one too";
}

} // namespace
} // namespace suite
