// Allocation failure: the n-th allocation of a call fails, for every n. The call says
// FW_OUT_OF_MEMORY and has changed nothing. Links the static library, so that this program's
// operator new is the library's.
#include "tests/runtime/Api.h"
#include "tests/support/FailingAllocation.h"

#include <atomic>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace api;

/// Calls with a failure at allocation 0, 1, ... until the call succeeds; returns the number of
/// failures.
template <class Call, class Check> int failEverywhere(Call call, Check unchanged) {
  for (int n = 0;; ++n) {
    untilFailure = n;
    fw_status status = call();
    bool failed = untilFailure < 0;
    untilFailure = -1;
    if (!failed) {
      EXPECT_EQ(status, FW_OK) << lastError();
      return n;
    }
    EXPECT_EQ(status, FW_OUT_OF_MEMORY) << "at allocation " << n;
    unchanged();
  }
}

TEST(Allocation, launchWritesNothing) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  Program program = compile(ctx, req);
  const int64_t rows[2] = {3, 50};
  const int64_t strides[2] = {60, 1};
  std::vector<float> data[4];
  fw_tensor tensors[4];
  for (int k = 0; k < 4; ++k) {
    data[k].assign(200, 1.0f);
    tensors[k] = tensor("f32", data[k].data(), rows);
    tensors[k].rank = 2;
    tensors[k].strides = strides;
  }
  fw_scalar scalars[] = {scalar("t", 1), scalar("lr", 0.5)};
  int failures = failEverywhere(
      [&] { return fw_launch(ctx.get(), program.get(), tensors, 4, scalars, 2, nullptr); },
      [&] {
        for (int k = 0; k < 4; ++k)
          ASSERT_EQ(data[k], std::vector<float>(200, 1.0f));
      });
  EXPECT_GT(failures, 10);
  EXPECT_LT(data[0][0], 1.0f);
}

TEST(Allocation, launchesThatReduceWriteNothing) {
  Context ctx = context();
  Program program = compile(ctx, request(find(ctx, "clip_by_norm")));
  const int64_t count = 4, one = 1;
  std::vector<float> x(4, 3.0f), y(4, -1.0f);
  float norm = -1;
  const fw_tensor tensors[] = {tensor("f32", x.data(), &count), tensor("f32", y.data(), &count),
                               tensor("f32", &norm, &one)};
  const int failures = failEverywhere(
      [&] { return fw_launch(ctx.get(), program.get(), tensors, 3, nullptr, 0, nullptr); },
      [&] {
        ASSERT_EQ(norm, -1);
        ASSERT_EQ(y, std::vector<float>(4, -1.0f));
      });
  EXPECT_GT(failures, 10);
  EXPECT_EQ(norm, 6);
}

/// A plan of the CPU over three tensors, and what it was made of.
struct Planned {
  Planned() {
    for (int i = 0; i < 3; ++i) {
      p[i].assign(size_t(counts[i]), 1.0f);
      g[i].assign(size_t(counts[i]), 1.0f);
      tensors.push_back(tensor("f32", p[i].data(), &counts[i]));
      tensors.push_back(tensor("f32", g[i].data(), &counts[i]));
    }
    group.struct_size = sizeof group;
    group.program = program.get();
    group.tensors = tensors.data();
    group.tensor_count = tensors.size();
    group.scalars = &rates;
    group.scalar_count = 1;
  }
  bool isUntouched() const {
    for (int i = 0; i < 3; ++i)
      if (p[i] != std::vector<float>(size_t(counts[i]), 1.0f))
        return false;
    return true;
  }
  static fw_scalar ratesOf(const double *values) {
    fw_scalar out = scalar("lr", 0);
    out.values = values;
    out.count = 3;
    return out;
  }

  const int64_t counts[3] = {3, 7, 100};
  std::vector<float> p[3], g[3];
  Context ctx = context();
  Program program = compile(ctx, request(find(ctx, "sgd")));
  std::vector<fw_tensor> tensors;
  const double values[3] = {1, 2, 3};
  fw_scalar rates = ratesOf(values);
  fw_plan_group group = {};
};

TEST(Allocation, plansAreMadeWholeOrNotAtAll) {
  Planned planned;
  fw_plan *plan = nullptr;
  EXPECT_GT(
      failEverywhere([&] { return fw_plan_create(planned.ctx.get(), &planned.group, 1, &plan); },
                     [&] { ASSERT_EQ(plan, nullptr); }),
      10);
  EXPECT_EQ(fw_plan_run(plan, nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
  EXPECT_EQ(planned.p[2][99], -2);
  fw_plan_destroy(plan);
}

TEST(Allocation, plansStayAsTheyWere) {
  Planned planned;
  Plan plan = make<Plan>(
      [&](fw_plan **out) { return fw_plan_create(planned.ctx.get(), &planned.group, 1, out); });
  EXPECT_GT(failEverywhere([&] { return fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr); },
                           [&] { ASSERT_TRUE(planned.isUntouched()); }),
            0);
  EXPECT_EQ(planned.p[2][0], -2) << "a rate of 3, once";
  const double others[3] = {10, 20, 30};
  const fw_scalar changed = Planned::ratesOf(others);
  EXPECT_GT(failEverywhere([&] { return fw_plan_set_scalars(plan.get(), 0, &changed, 1); }, [] {}),
            0);
  std::vector<float> elsewhere(100, 2.0f);
  void *gradients[3] = {elsewhere.data(), elsewhere.data(), elsewhere.data()};
  failEverywhere([&] { return fw_plan_set_pointers(plan.get(), 0, "g", gradients, 3); }, [] {});
  EXPECT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
  EXPECT_EQ(planned.p[2][0], -62);
}

/// What the log would say is not worth an update that has been made.
TEST(Allocation, updatesOfAScaleAreMadeOrNot) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.log = [](void *, fw_log_level, const char *) {};
  Context ctx = make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  std::unique_ptr<fw_scaler, Destroy<fw_scaler_destroy>> scaler(nullptr);
  fw_scaler *raw = nullptr;
  ASSERT_EQ(fw_scaler_create(ctx.get(), nullptr, &raw), FW_OK) << lastError();
  scaler.reset(raw);
  auto updates = [&] {
    fw_scaler_state state = {};
    state.struct_size = sizeof state;
    EXPECT_EQ(fw_scaler_read(raw, &state), FW_OK) << lastError();
    return state.updates;
  };
  int refused = 0, made = 0;
  for (bool failed = true; failed;) {
    const float report = 3;
    const void *address = &report;
    const uint64_t before = updates();
    untilFailure = refused + made;
    const fw_status status = fw_scaler_update(raw, &address, 1, nullptr);
    failed = untilFailure < 0;
    untilFailure = -1;
    EXPECT_EQ(status, updates() > before ? FW_OK : FW_OUT_OF_MEMORY)
        << "at allocation " << refused + made;
    ++(status == FW_OK ? made : refused);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(made, 1) << "some fail in what is logged";
}

TEST(Allocation, requestsStayAsTheyWere) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  auto operandDtype = [&] {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(req.get(), 1, &info), FW_OK) << lastError();
    return std::string(info.dtype);
  };
  failEverywhere([&] { return fw_request_dtype(req.get(), "grad", "bf16"); },
                 [&] { ASSERT_EQ(operandDtype(), "f32"); });
  EXPECT_EQ(operandDtype(), "bf16");
}

/// A folder that goes away.
struct Folder {
  Folder() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = (std::filesystem::temp_directory_path() / "fw-allocation-XXXXXX").string();
};

// For a GPU, since all of that is ours. For the CPU, LLVM opens and links what it has made.
TEST(Allocation, compilesOfWhatIsOnDiskLeaveNothingBehind) {
  Folder folder;
  auto requestIn = [](const Context &ctx) {
    Request req = request(find(ctx, "adamw"));
    EXPECT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK) << lastError();
    return req;
  };
  {
    Context ctx = context(folder.path.c_str());
    compile(ctx, requestIn(ctx));
  }
  Context ctx;
  Request req;
  fw_program *made = nullptr;
  auto compileInAFreshContext = [&] {
    const long n = std::exchange(untilFailure, -1);
    req.reset();
    ctx = context(folder.path.c_str());
    req = requestIn(ctx);
    untilFailure = n;
    return fw_compile(ctx.get(), req.get(), &made);
  };
  const int failures = failEverywhere(compileInAFreshContext, [&] {
    ASSERT_EQ(made, nullptr);
    Program program = compile(ctx, req); // neither waits nor finds half a program
    ASSERT_NE(program, nullptr);
  });
  EXPECT_GT(failures, 100);
  fw_counters counters = {};
  counters.struct_size = sizeof counters;
  EXPECT_EQ(fw_context_counters(ctx.get(), &counters), FW_OK);
  EXPECT_EQ(counters.compiles, 0u);
  fw_program_destroy(made);
}

TEST(Allocation, handlesAreNotGivenOut) {
  Context ctx = context();
  Op op = find(ctx, "adamw");
  fw_request *made = nullptr;
  failEverywhere([&] { return fw_request_create(op.get(), &made); },
                 [&] { ASSERT_EQ(made, nullptr); });
  fw_request_destroy(made);
}

TEST(Allocation, errorsNeedNoMemory) {
  untilFailure = 0;
  fw_status status = fw_op_find(nullptr, "adamw", nullptr);
  untilFailure = -1;
  EXPECT_EQ(status, FW_OUT_OF_MEMORY);
  EXPECT_EQ(
      lastError(),
      "expected memory, got none; nothing was changed; free memory, or work on smaller lists");
}

} // namespace
