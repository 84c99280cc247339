// Several devices, and what a context says of each.
#include "tests/gpu/suite/Trial.h"

#include <algorithm>
#include <optional>

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

class Devices : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && gpu.targets.size() < 2)
      GTEST_SKIP() << "needs two devices, got one";
  }

  /// Runs on both devices in turns, each against the CPU.
  void runOnBoth(const Kernel &first, const Kernel &second) {
    Trial one(context(), onGpu, {{&first, list}}),
        two(context(), {FW_DEVICE_CUDA, 1}, {{&second, list}}, 5);
    Trial referenceOne(context(), onCpu, {{&first, list}});
    Trial referenceTwo(context(), onCpu, {{&second, list}}, 5);
    for (int t = 1; t <= 3; ++t) {
      const Scalars step = Scalars().set("t", t);
      for (Trial *trial : {&one, &two, &referenceTwo, &referenceOne})
        trial->run(step);
      for (Trial *trial : {&two, &one})
        trial->launch(step);
      for (Trial *trial : {&referenceOne, &referenceTwo})
        trial->run(step);
    }
    expectSame(one, referenceOne);
    expectSame(two, referenceTwo);
  }
};

std::string targetOf(const Kernel &kernel) {
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  EXPECT_OK(fw_program_kernel(kernel.gpu.get(), 0, &info));
  return info.target;
}

TEST_F(Devices, a_program_serves_all_of_its_arch) {
  if (gpu.targets[0] != gpu.targets[1])
    GTEST_SKIP() << "needs two devices of one arch, got " << gpu.targets[0] << " and "
                 << gpu.targets[1];
  runOnBoth(compiled("adamw"), compiled("adamw"));
  FreshContext fresh;
  auto kernel = makeKernel(fresh, "adamw");
  for (int device : {0, 1})
    EXPECT_OK(fw_preload(fresh, kernel->gpu.get(), device));
  EXPECT_EQ(fresh.counters().modules, 1u);
}

TEST_F(Devices, the_current_device_stays_that_of_the_caller) {
  runOnBoth(compiled("adamw", 0), compiled("adamw", 1));
  cuda::Handle current = nullptr;
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, gpu.primary);
}

TEST_F(Devices, case_O03_kernels_are_for_the_device_that_runs_them) {
  if (gpu.targets[0] == gpu.targets[1])
    GTEST_SKIP() << "needs two devices of different archs, got two of " << gpu.targets[0];
  const Kernel &first = compiled("adamw", 0), &second = compiled("adamw", 1);
  EXPECT_EQ(targetOf(first), gpu.targets[0]);
  EXPECT_EQ(targetOf(second), gpu.targets[1]);
  if (gpu.isFake) {
    EXPECT_EQ(gpu.targets, (std::vector<std::string>{"sm_120", "sm_86"}));
  }
  runOnBoth(first, second);
  EXPECT_FAULT(fw_preload(context(), second.gpu.get(), 0), FW_DEVICE, "cuda:N");
  Trial here(context(), onGpu, {{&first, list}});
  auto tensors = here.arena().tensors(here.base(), FW_DEVICE_CUDA);
  GroupArray groups(onGpu);
  groups.add(second, tensors);
  fw_plan *plan = nullptr;
  EXPECT_FAULT(fw_plan_create(context(), groups.array().data(), 1, &plan), FW_DEVICE, "cuda:N");
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Devices, tensors_of_a_plan_are_on_one_device) {
  const Kernel &adamw = compiled("adamw");
  Trial here(context(), onGpu, {{&adamw, list}});
  auto tensors = here.arena().tensors(here.base(), FW_DEVICE_CUDA);
  tensors[9].device_id = 1;
  GroupArray groups(onGpu);
  groups.add(adamw, tensors);
  fw_plan *plan = nullptr;
  EXPECT_FAULT(fw_plan_create(context(), groups.array().data(), 1, &plan), FW_DEVICE, "tensor 9");
  EXPECT_EQ(plan, nullptr);
}

/// A stream of device 1, made while its context is current.
struct StreamOfOther {
  StreamOfOther() {
    EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context, 1));
    EXPECT_CUDA(cuCtxSetCurrent(context));
    stream.emplace();
    EXPECT_CUDA(cuCtxSetCurrent(Gpu::get().primary));
  }
  ~StreamOfOther() {
    EXPECT_CUDA(cuCtxSetCurrent(context));
    stream.reset();
    EXPECT_CUDA(cuCtxSetCurrent(Gpu::get().primary));
  }
  cuda::Handle context = nullptr;
  std::optional<cuda::Stream> stream;
};

/// One fw_launch of adamw over tensors of a trial that say they are on device `id`.
fw_status launchOf(const Trial &trial, const Kernel &adamw, int32_t id, cuda::Handle stream) {
  const Scalars step = Scalars().set("t", 1);
  auto tensors = trial.arena().tensors(trial.base(), FW_DEVICE_CUDA, id);
  return fw_launch(Gpu::get().context.get(), adamw.gpu.get(), tensors.data(), tensors.size(),
                   step.array().data(), step.array().size(), stream);
}

TEST_F(Devices, a_stream_of_another_device_is_refused) {
  const Kernel &adamw = compiled("adamw");
  StreamOfOther theirs;
  Trial trial(context(), onGpu, {{&adamw, list}});
  const Scalars step = Scalars().set("t", 1);
  EXPECT_FAULT(fw_plan_run(trial.plan(), step.array().data(), 1, *theirs.stream, nullptr),
               FW_DEVICE, "");
  EXPECT_EQ(trial.image(), trial.arena().bytes);
  trial.run(step);
  EXPECT_EQ(trial.arena().check(trial.image(), step), "");
}

TEST_F(Devices, a_launch_on_a_stream_of_another_device_is_refused) {
  const Kernel &adamw = compiled("adamw");
  StreamOfOther theirs;
  Trial trial(context(), onGpu, {{&adamw, list}});
  const std::string words =
      "expected a stream of CUDA device 0, got one of device 1; pass a stream "
      "of the tensors' device";
  EXPECT_FAULT(launchOf(trial, adamw, 0, *theirs.stream), FW_DEVICE, words);
  EXPECT_CUDA(cuCtxSetCurrent(theirs.context)); // as a caller who works on that device has it
  EXPECT_FAULT(launchOf(trial, adamw, 0, *theirs.stream), FW_DEVICE, words);
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
  EXPECT_FAULT(launchOf(trial, adamw, 1, cuda::Stream()), FW_DEVICE,
               "expected a stream of CUDA device 1, got one of device 0");
  EXPECT_EQ(trial.image(), trial.arena().bytes);
  EXPECT_OK(launchOf(trial, adamw, 0, nullptr));
  EXPECT_EQ(trial.arena().check(trial.image(), Scalars().set("t", 1)), "");
}

class OneDevice : public GpuTest {};

TEST_F(OneDevice, a_launch_names_a_device_that_is_there) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onGpu, {{&adamw, list}});
  const cuda::Stream stream;
  for (int32_t wrong : {-1, int32_t(gpu.targets.size()), 1 << 20})
    for (cuda::Handle handle : {cuda::Handle(nullptr), cuda::Handle(stream)})
      EXPECT_FAULT(launchOf(trial, adamw, wrong, handle), FW_DEVICE,
                   "got device " + std::to_string(wrong));
  EXPECT_EQ(trial.image(), trial.arena().bytes);
}

TEST_F(OneDevice, a_context_describes_it) {
  fw_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(fw_context_device(context(), 0, &info));
  EXPECT_EQ(info.device_id, 0);
  EXPECT_NE(info.name, std::string());
  EXPECT_GE(info.compute_major * 10 + info.compute_minor, 75);
  EXPECT_GE(info.driver_version, 12000);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.memory_bytes, uint64_t(1) << 20);
  const int32_t count = int32_t(gpu.targets.size());
  for (int32_t wrong : {-1, count})
    EXPECT_FAULT(fw_context_device(context(), wrong, &info), FW_DEVICE,
                 "got device " + std::to_string(wrong));
}

TEST_F(OneDevice, requests_name_it) {
  api::Op op = api::find(gpu.context, "scale");
  api::Request request = api::request(op);
  EXPECT_OK(fw_request_target(request.get(), "cuda"));
  EXPECT_OK(fw_request_target(request.get(), "cuda:0"));
  for (const char *wrong : {"cuda:", "cuda:x", "cuda:-1", "cuda:0x", "cuda:99999999999999999999"})
    EXPECT_EQ(fw_request_target(request.get(), wrong), FW_USAGE)
        << wrong << ": " << api::lastError();
  EXPECT_FAULT(fw_request_target(request.get(), "cuda:4096"), FW_DEVICE, "got device 4096");
}

/// Of the stub test that sets FAKE_CUDA_DEVICES to a device newer than any NVRTC.
TEST_F(OneDevice, case_P01_newer_than_NVRTC) {
  if (!gpu.targets[0].starts_with("compute_"))
    GTEST_SKIP() << "needs a device newer than NVRTC, got " << gpu.targets[0];
  const Kernel &scale = compiled("scale");
  EXPECT_EQ(targetOf(scale), gpu.targets[0]);
  Trial onDevice(context(), onGpu, {{&scale, list}}), reference(context(), onCpu, {{&scale, list}});
  onDevice.run(Scalars().set("a", 3));
  reference.run(Scalars().set("a", 3));
  expectSame(onDevice, reference);
  FreshContext fresh;
  makeKernel(fresh, "scale");
  // Beside it the log has the compiles, where the cache was empty.
  const auto isTheNote = [](const std::string &message) {
    return message.find("is newer than") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(gpu.told, isTheNote), 1) << "told once";
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(fw_program_kernel(scale.gpu.get(), 0, &info));
  EXPECT_NE(std::string(static_cast<const char *>(info.image), info.image_bytes).find(".target"),
            std::string::npos);
  fake_cuda_counts counts = {};
  if (gpu.isFake) {
    gpu.fake.counts_now(&counts);
    EXPECT_GE(counts.jitLoads, 1u);
  }
}

} // namespace
} // namespace suite
