// Misuse: every wrong call is told, and leaves tensors and plans as they were.
#include "tests/gpu/suite/Trial.h"

#include <sys/wait.h>
#include <unistd.h>

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33});

class Errors : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped())
      return;
    adamw = &compiled("adamw");
    trial = std::make_unique<Trial>(context(), onGpu, std::vector<GroupSpec>{{adamw, list}});
    tensors = trial->arena().tensors(trial->base(), FW_DEVICE_CUDA);
  }
  void TearDown() override {
    if (trial) {
      EXPECT_EQ(trial->image(), trial->arena().bytes) << "a call that fails writes nothing";
      trial->run(Scalars().set("t", 1));
      EXPECT_EQ(trial->arena().check(trial->image(), Scalars().set("t", 1)), "")
          << "the plan works";
      trial.reset();
    }
    GpuTest::TearDown();
  }

  fw_status create(const Kernel &kernel, const std::vector<fw_tensor> &wrong,
                   const Scalars &scalars = {}) {
    GroupArray groups(onGpu);
    groups.add(kernel, wrong, scalars);
    fw_plan *plan = nullptr;
    fw_status status = fw_plan_create(context(), groups.array().data(), 1, &plan);
    EXPECT_EQ(plan, nullptr);
    return status;
  }
  fw_status launch(const std::vector<fw_tensor> &wrong,
                   const Scalars &scalars = Scalars().set("t", 1)) {
    const auto &given = scalars.array();
    return fw_launch(context(), adamw->gpu.get(), wrong.data(), wrong.size(), given.data(),
                     given.size(), nullptr);
  }
  fw_status run(const Scalars &scalars) {
    const auto &given = scalars.array();
    return fw_plan_run(trial->plan(), given.data(), given.size(), nullptr, nullptr);
  }

  const Kernel *adamw = nullptr;
  std::unique_ptr<Trial> trial;
  std::vector<fw_tensor> tensors;
};

TEST_F(Errors, tensors_of_another_place) {
  auto wrong = tensors;
  wrong[8].device = FW_DEVICE_CPU;
  EXPECT_FAULT(create(*adamw, wrong), FW_DEVICE, "group 0: tensor 8");
  EXPECT_FAULT(launch(wrong), FW_DEVICE, "tensor 8");
  for (fw_tensor &tensor : wrong)
    tensor.device = FW_DEVICE_CPU;
  EXPECT_FAULT(create(*adamw, wrong), FW_DEVICE, "tensor 0");
  EXPECT_FAULT(launch(wrong), FW_DEVICE, "tensor 0");
  wrong = tensors;
  for (fw_tensor &tensor : wrong)
    tensor.device_id = 4096;
  EXPECT_FAULT(create(*adamw, wrong), FW_DEVICE, "got device 4096");
  EXPECT_FAULT(launch(wrong), FW_DEVICE, "got device 4096");
}

TEST_F(Errors, tensors_of_another_kind) {
  auto wrong = tensors;
  wrong[9].dtype = "bf16";
  EXPECT_FAULT(create(*adamw, wrong), FW_USAGE, "g of entry 2): expected dtype f32, got bf16");
  EXPECT_FAULT(launch(wrong), FW_USAGE, "expected dtype f32, got bf16");
  wrong = tensors;
  wrong[8].data = nullptr;
  EXPECT_FAULT(create(*adamw, wrong), FW_USAGE, "tensor 8");
  EXPECT_FAULT(launch(wrong), FW_USAGE, "tensor 8");
  wrong = tensors;
  wrong.pop_back();
  EXPECT_FAULT(create(*adamw, wrong), FW_USAGE, "15");
  EXPECT_FAULT(launch(wrong), FW_USAGE, "15");
  wrong = tensors;
  wrong[10].data = wrong[8].data;
  EXPECT_FAULT(create(*adamw, wrong), FW_USAGE, "memory of its own");
  EXPECT_FAULT(launch(wrong), FW_USAGE, "memory of its own");
  wrong = tensors;
  wrong[1].struct_size = 8;
  EXPECT_EQ(create(*adamw, wrong), FW_USAGE);
  EXPECT_EQ(launch(wrong), FW_USAGE);
}

TEST_F(Errors, programs_that_do_not_belong_together) {
  GroupArray groups(onGpu);
  const Kernel &amsgrad = compiled("adamw_amsgrad_true"), &sgd = compiled("sgd");
  fw_plan *plan = nullptr;
  for (const Kernel *other : {&amsgrad, &sgd}) {
    GroupArray groups(onGpu);
    groups.add(*adamw, tensors);
    groups.add(*other, {});
    EXPECT_FAULT(fw_plan_create(context(), groups.array().data(), 2, &plan), FW_USAGE,
                 "group 1: expected the op and options of group 0");
  }
  GroupArray mixed(onGpu);
  mixed.add(*adamw, tensors);
  mixed.add(*adamw, {});
  std::vector<fw_plan_group> array = mixed.array();
  array[1].program = adamw->cpu.get();
  EXPECT_FAULT(fw_plan_create(context(), array.data(), 2, &plan), FW_USAGE, "group 1");
  array[1].program = nullptr;
  EXPECT_FAULT(fw_plan_create(context(), array.data(), 2, &plan), FW_USAGE, "got NULL");
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Errors, scalars) {
  EXPECT_FAULT(run({}), FW_USAGE, "t: expected the number of this step, got none");
  EXPECT_FAULT(launch(tensors, {}), FW_USAGE, "t: expected the number of this step, got none");
  EXPECT_FAULT(run(Scalars().set("t", 1).set("mu", 1)), FW_USAGE, "got mu");
  EXPECT_FAULT(run(Scalars().set("t", 0)), FW_USAGE, ">= 1, got 0");
  EXPECT_FAULT(run(Scalars().set("t", 1).set("lr", -1)), FW_USAGE, "lr: expected a value >= 0");
  EXPECT_FAULT(run(Scalars().set("t", {1, 2, 3})), FW_USAGE, "one value per list entry, 4, got 3");
  EXPECT_FAULT(create(*adamw, tensors, Scalars().set("beta1", 1)), FW_USAGE,
               "group 0: beta1: expected a value in [0, 1)");
  const Scalars wrong = Scalars().set("lr", {1, 2, 3, -4});
  EXPECT_FAULT(fw_plan_set_scalars(trial->plan(), 0, wrong.array().data(), 1), FW_USAGE,
               "entry 3: lr");
  EXPECT_FAULT(fw_plan_set_scalars(trial->plan(), 2, wrong.array().data(), 1), FW_USAGE,
               "one of 1 groups, got 2");
}

TEST_F(Errors, nothing_where_something_must_be) {
  fw_plan *plan = nullptr;
  fw_plan_info info = {};
  EXPECT_FAULT(fw_plan_create(nullptr, nullptr, 0, &plan), FW_USAGE, "context");
  EXPECT_FAULT(fw_plan_create(context(), nullptr, 1, &plan), FW_USAGE, "groups");
  EXPECT_FAULT(fw_plan_create(context(), nullptr, 0, nullptr), FW_USAGE, "out");
  EXPECT_FAULT(fw_plan_run(nullptr, nullptr, 0, nullptr, nullptr), FW_USAGE, "plan");
  EXPECT_FAULT(fw_plan_describe(trial->plan(), nullptr), FW_USAGE, "out");
  EXPECT_FAULT(fw_plan_describe(trial->plan(), &info), FW_USAGE, "struct_size");
  EXPECT_FAULT(fw_preload(context(), nullptr, 0), FW_USAGE, "program");
  EXPECT_FAULT(fw_preload(context(), adamw->gpu.get(), 4096), FW_DEVICE, "got device 4096");
}

/// The status of `call` in a child of fork(), which says no more than that.
template <class Call> int statusInChild(Call call) {
  const pid_t child = fork();
  if (child == 0) {
    const fw_status status = call();
    const bool isNamed = std::string(fw_last_error()->text).find("fork()") != std::string::npos;
    _exit(isNamed ? int(status) : 100 + int(status));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Errors, a_child_of_fork_is_refused_by_name) {
  fw_buffer *buffer = nullptr;
  EXPECT_EQ(statusInChild([&] { return run(Scalars().set("t", 1)); }), FW_DEVICE);
  EXPECT_EQ(statusInChild([&] { return launch(tensors); }), FW_DEVICE);
  EXPECT_EQ(statusInChild([&] {
              GroupArray groups(onGpu);
              groups.add(*adamw, tensors);
              fw_plan *plan = nullptr;
              return fw_plan_create(context(), groups.array().data(), 1, &plan);
            }),
            FW_DEVICE);
  EXPECT_EQ(
      statusInChild([&] { return fw_buffer_create(context(), FW_DEVICE_CUDA, 0, 8, &buffer); }),
      FW_DEVICE);
  EXPECT_EQ(statusInChild([&] {
              fw_status status = run(Scalars().set("t", 1));
              trial.reset(); // ends without a word to the driver
              return status;
            }),
            FW_DEVICE);
}

} // namespace
} // namespace suite
