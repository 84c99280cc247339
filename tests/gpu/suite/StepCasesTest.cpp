// Handed cases of whole steps and norms on the GPU; tests/steps has them on the CPU.
#include "tests/gpu/suite/Trial.h"

#include <bit>
#include <cmath>
#include <limits>

namespace suite {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

class StepCases : public GpuTest {
protected:
  /// Puts f32 numbers into the elements of the first entry, or of what all have.
  void put(const Trial &trial, Bytes &image, const std::string &operand,
           const std::vector<float> &numbers) const {
    const size_t k = trial.arena().kernel.operand(operand);
    for (size_t i = 0; i < numbers.size(); ++i)
      trial.arena().set(image, 0, k, i, std::bit_cast<uint32_t>(numbers[i]));
  }
  std::vector<double> numbers(const Trial &trial, const std::string &operand) const {
    return trial.arena().numbers(trial.image(), operand);
  }
  /// All bytes but those of all.skipped.
  Bytes kept(const Trial &trial) const {
    Bytes image = trial.image();
    put(trial, image, "all.skipped", {0});
    return image;
  }
  api::Plan planOf(const Kernel &kernel, std::vector<fw_tensor> tensors) const {
    for (fw_tensor &tensor : tensors)
      tensor.device = FW_DEVICE_CUDA;
    GroupArray groups(onGpu);
    groups.add(kernel, std::move(tensors));
    return api::make<api::Plan>(
        [&](fw_plan **out) { return fw_plan_create(context(), groups.array().data(), 1, out); });
  }
};

TEST_F(StepCases, case_C01_momentum_is_not_touched_by_a_skipped_step) {
  const Kernel &sgd = compiled("sgd_momentum_classical_unscale_guard");
  if (gpu.isFake)
    gpu.fake.useTwins(programRow("scale"), gpu.targets[0]); // fw_scalars comes with it
  fw_scaler_options options;
  fw_scaler_options_init(&options);
  options.device = "cuda:0";
  options.init_scale = 4;
  using Scaler = std::unique_ptr<fw_scaler, api::Destroy<fw_scaler_destroy>>;
  auto scaler = api::make<Scaler>(
      [&](fw_scaler **out) { return fw_scaler_create(context(), &options, out); });
  fw_scalar scale = {};
  scale.struct_size = sizeof scale;
  ASSERT_OK(fw_scaler_scalar(scaler.get(), &scale));
  Numbers<int64_t> t(context(), onGpu, {0});
  const Scalars scalars = Scalars()
                              .setData("t", t.data(), "i64", 1, true)
                              .setData("all.scale", scale.data, scale.dtype)
                              .set("mu", 0.9)
                              .set("dampening", 0.5)
                              .set("lr", 0.5);
  Trial trial(context(), onGpu, {{&sgd, vectors({2}), {}, Values::USUAL}});
  Bytes image = trial.image();
  put(trial, image, "p", {3, 4});
  put(trial, image, "b", {0, 0});
  auto step = [&](const std::vector<float> &gradients) {
    put(trial, image, "g", gradients);
    trial.write(0, image);
    const Bytes before = kept(trial);
    trial.run(scalars);
    const void *skipped[] = {static_cast<std::byte *>(trial.base()) +
                             trial.arena().offset(0, sgd.operand("all.skipped"))};
    EXPECT_OK(fw_scaler_update(scaler.get(), skipped, 1, nullptr));
    return kept(trial) == before;
  };
  EXPECT_TRUE(step({infinity, 4}));
  EXPECT_EQ(numbers(trial, "all.skipped"), std::vector<double>{1});
  EXPECT_EQ(t.read(), std::vector<int64_t>{0});
  EXPECT_FALSE(step({2, 2})); // ones under the scale, which is halved
  EXPECT_EQ(numbers(trial, "all.skipped"), std::vector<double>{0});
  EXPECT_EQ(numbers(trial, "b"), (std::vector<double>{1, 1}));
  EXPECT_EQ(numbers(trial, "p"), (std::vector<double>{2.5, 3.5}));
  EXPECT_EQ(t.read(), std::vector<int64_t>{1});
  EXPECT_OK(fw_scaler_wait(scaler.get(), nullptr));
}

TEST_F(StepCases, case_C13_gradients_that_become_infinite_behind_their_unscaling) {
  const Kernel &unscale = compiled("unscale"), &adamw = compiled("adamw_zero_grad_guard");
  Numbers<float> g(context(), onGpu, {8, -16}), scale(context(), onGpu, {8}),
      bad(context(), onGpu, {7}), norm(context(), onGpu, {0});
  const int64_t two = 2, one = 1;
  api::Plan plan =
      planOf(unscale, {api::tensor("f32", g.data(), &two), api::tensor("f32", g.data(), &two),
                       api::tensor("f32", scale.data(), &one), api::tensor("f32", bad.data(), &one),
                       api::tensor("f32", norm.data(), &one)});
  ASSERT_OK(runOf(plan.get(), {}));
  EXPECT_EQ(g.read(), (std::vector<float>{1, -2}));
  EXPECT_EQ(bad.read(), std::vector<float>{0});
  Trial trial(context(), onGpu, {{&adamw, vectors({2}), {}, Values::USUAL}});
  for (float hook : {infinity, -infinity, std::nanf("")}) {
    Bytes image = trial.arena().bytes;
    put(trial, image, "g", {g.read()[0], hook});
    trial.write(0, image);
    const Bytes before = kept(trial);
    trial.run(step(1));
    EXPECT_EQ(numbers(trial, "all.skipped"), std::vector<double>{1});
    EXPECT_TRUE(kept(trial) == before);
  }
}

TEST_F(StepCases, case_A07_lr_in_memory_is_zero_or_tiny) {
  for (const char *program : {"adam", "adamw"}) {
    const Kernel &kernel = compiled(program);
    const GroupSpec group = {&kernel, vectors({33, 4}), {}, Values::USUAL};
    Trial trial(context(), onGpu, {group}), reference(context(), onCpu, {group});
    const size_t p = kernel.operand("p");
    Bytes image = trial.image();
    for (const char *zero : {"g", "m", "v"})
      put(trial, image, zero, {0, 0});
    put(trial, image, "p", {3, -0.0f});
    Numbers<float> lr(context(), onGpu, {0});
    for (float value : {0.0f, 1e-20f, 1e-30f}) {
      SCOPED_TRACE(value);
      lr.write({value});
      trial.write(0, image);
      reference.write(0, image);
      trial.run(step(1).setData("lr", lr.data(), "f32"));
      reference.run(step(1).set("lr", double(value)));
      EXPECT_TRUE(trial.image() == reference.image());
      if (value == 0)
        EXPECT_EQ(trial.arena().words(trial.image(), p), trial.arena().words(image, p));
      for (double number : numbers(trial, "p"))
        EXPECT_FALSE(std::isnan(number));
    }
  }
}

TEST_F(StepCases, case_E03_norms_of_each_with_empty_tensors_between) {
  const int64_t unit = gpu.isFake || isQuick() ? 33 : 2457600;
  const std::vector<int64_t> sizes = {2 * unit, 2 * unit, 2 * unit, unit, 0, 0, 2 * unit};
  std::vector<float> x, l2, inf;
  for (size_t i = 0; i < sizes.size(); ++i) {
    x.insert(x.end(), size_t(sizes[i]), float(i + 1)); // squares and their sums are exact
    l2.push_back(float(double(i + 1) * std::sqrt(double(sizes[i]))));
    inf.push_back(sizes[i] ? float(i + 1) : 0);
  }
  Numbers<float> memory(context(), onGpu, x);
  const int64_t one = 1;
  for (const auto &[program, expected] :
       {std::pair("l2norm_each_true", l2), std::pair("infnorm_each_true", inf)}) {
    Numbers<float> norms(context(), onGpu, std::vector<float>(sizes.size(), -1));
    std::vector<fw_tensor> tensors;
    const float *at = memory.data();
    for (size_t i = 0; i < sizes.size(); at += sizes[i], ++i) {
      tensors.push_back(api::tensor("f32", const_cast<float *>(at), &sizes[i]));
      tensors.push_back(api::tensor("f32", norms.data() + i, &one));
    }
    api::Plan plan = planOf(compiled(program), tensors);
    EXPECT_OK(runOf(plan.get(), {}));
    EXPECT_EQ(norms.read(), expected) << program;
  }
}

TEST_F(StepCases, case_E05_norms_of_nothing_are_zero) {
  for (const List &list : {List{}, vectors({0}), vectors({0, 0, 0})})
    for (const char *program : {"l2norm", "infnorm", "norm3"}) {
      Trial trial(context(), onGpu, {{&compiled(program), list}});
      trial.run();
      EXPECT_EQ(numbers(trial, "norm"), std::vector<double>{0}) << program;
    }
  Trial cubic(context(), onGpu, {{&compiled("norm3"), vectors({2, 1}), {}, Values::USUAL}});
  cubic.run();
  EXPECT_EQ(cubic.arena().check(cubic.image(), {}), "");
  Trial scale(context(), onGpu, {{&compiled("scale"), {}}});
  scale.run();
  scale.launch();
}

TEST_F(StepCases, case_U01_norm_of_more_elements_than_31_bits_count) {
  const size_t count = 2476250368;
  const int64_t shape[] = {19345706, 128}, one = 1;
  fw_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(fw_context_device(context(), 0, &info));
  if (isQuick() || gpu.isFake || info.memory_bytes < uint64_t(16) << 30)
    GTEST_SKIP() << "needs 16 GiB of device memory, and time";
  auto buffer = api::make<api::Buffer>([&](fw_buffer **out) {
    return fw_buffer_create(context(), FW_DEVICE_CUDA, 0, count * sizeof(float), out);
  });
  EXPECT_CUDA(cuMemsetD8Async(reinterpret_cast<uint64_t>(fw_buffer_data(buffer.get())), 0,
                              count * sizeof(float), nullptr));
  auto write = [&](size_t at, float value) {
    EXPECT_OK(fw_buffer_copy_in(buffer.get(), at * sizeof value, &value, sizeof value, nullptr));
  };
  for (size_t at : {size_t(0), size_t(1) << 31, (size_t(1) << 31) + 1, count - 1})
    write(at, 1.5f);
  fw_tensor x = api::tensor("f32", fw_buffer_data(buffer.get()), shape);
  x.rank = 2;
  Numbers<float> norm(context(), onGpu, {-1}), bad(context(), onGpu, {-1}),
      first(context(), onGpu, {-1});
  api::Plan l2norm = planOf(compiled("l2norm"), {x, api::tensor("f32", norm.data(), &one)});
  EXPECT_OK(runOf(l2norm.get(), {}));
  EXPECT_EQ(norm.read(), std::vector<float>{3});
  write(count - 1, infinity);
  api::Plan nonfinite = planOf(compiled("nonfinite"), {x, api::tensor("f32", bad.data(), &one),
                                                       api::tensor("f32", first.data(), &one)});
  EXPECT_OK(runOf(nonfinite.get(), {}));
  EXPECT_EQ(bad.read(), std::vector<float>{1});
  EXPECT_EQ(first.read(), std::vector<float>{0});
}

} // namespace
} // namespace suite
