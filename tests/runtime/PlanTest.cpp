// Plans on the CPU through the C API: groups, scalars from everywhere, new addresses.
#include "tests/runtime/Numbers.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using namespace api;

/// p = p - lr*g/t, with numbers that floats hold exactly.
constexpr const char *descend = "op descend over elements {\n"
                                "  param p;  grad g;  step t;  hyper lr = 1 >= 0\n"
                                "  p = p - lr*g/t\n"
                                "}\n";

/// Tensors p and g of some lengths; p starts at 100, g at 1.
struct Tensors {
  explicit Tensors(std::vector<int64_t> lengths) : counts(std::move(lengths)) {
    for (int64_t count : counts) {
      p.emplace_back(count, 100.0f);
      g.emplace_back(count, 1.0f);
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      array.push_back(tensor("f32", counts[i] ? p[i].data() : nullptr, &counts[i]));
      array.push_back(tensor("f32", counts[i] ? g[i].data() : nullptr, &counts[i]));
    }
  }
  Tensors(const Tensors &) = delete;
  /// All p, or -1 where the elements of a tensor differ.
  std::vector<float> values() const {
    std::vector<float> values;
    for (const std::vector<float> &each : p)
      if (!each.empty())
        values.push_back(each == std::vector<float>(each.size(), each[0]) ? each[0] : -1);
    return values;
  }

  std::vector<int64_t> counts;
  std::vector<std::vector<float>> p, g;
  std::vector<fw_tensor> array;
};

class Plans : public testing::Test {
protected:
  fw_plan_group group(const Tensors &tensors, const std::vector<fw_scalar> &scalars = none) const {
    return api::group(program, tensors.array, scalars);
  }
  Plan make(const std::vector<fw_plan_group> &groups) const {
    return api::make<Plan>([&](fw_plan **out) {
      return fw_plan_create(ctx.get(), groups.data(), groups.size(), out);
    });
  }
  static fw_status run(const Plan &plan, const std::vector<fw_scalar> &scalars = none) {
    return fw_plan_run(plan.get(), scalars.data(), scalars.size(), nullptr, nullptr);
  }
  static fw_plan_info describe(const Plan &plan) {
    fw_plan_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_plan_describe(plan.get(), &info), FW_OK) << lastError();
    return info;
  }

  static inline const std::vector<fw_scalar> none;
  Context ctx = context();
  Request req = request(parse(ctx, descend));
  Program program = compile(ctx, req);
};

#define EXPECT_ERROR(call, status, words)                                                          \
  EXPECT_EQ(call, status);                                                                         \
  EXPECT_EQ(lastError(), words)

using Floats = std::vector<float>;

// --- Groups and scalars --------------------------------------------------------------------------

TEST_F(Plans, groupsHaveTheirOwnScalars) {
  Tensors a({3, 0, 70'000}), b({5});
  Plan plan = make({group(a, {scalar("lr", 2)}), group(b)});
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({98, 98}));
  EXPECT_EQ(b.values(), Floats({99}));
  ASSERT_EQ(run(plan, {scalar("t", 2)}), FW_OK);
  EXPECT_EQ(a.values(), Floats({97, 97}));
  EXPECT_EQ(b.values(), Floats({98.5}));
}

TEST_F(Plans, theRunWinsOverTheGroupAndTheGroupOverTheOp) {
  Tensors a({1}), b({1});
  Plan plan = make({group(a, {scalar("lr", 2), scalar("t", 2)}), group(b, {scalar("t", 1)})});
  ASSERT_EQ(run(plan), FW_OK) << lastError();
  EXPECT_EQ(a.values()[0], 99);
  EXPECT_EQ(b.values()[0], 99);
  ASSERT_EQ(run(plan, {scalar("lr", 8)}), FW_OK);
  EXPECT_EQ(a.values()[0], 95);
  EXPECT_EQ(b.values()[0], 91);
  ASSERT_EQ(run(plan), FW_OK) << "the run's value was for that run";
  EXPECT_EQ(a.values()[0], 94);
}

TEST_F(Plans, everyTensorMayHaveItsOwnValue) {
  Tensors a({3, 0, 4}), b({5});
  std::vector<double> ofGroup = {1, 50, 2};
  Plan plan = make({group(a, {perTensor("lr", ofGroup)}), group(b)});
  ofGroup.assign(3, 1e9); // the plan has a copy
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({99, 98}));
  EXPECT_EQ(b.values(), Floats({99}));
  const std::vector<double> ofRun = {10, 60, 20, 30}; // one per entry of the whole plan
  ASSERT_EQ(run(plan, {scalar("t", 1), perTensor("lr", ofRun)}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({89, 78}));
  EXPECT_EQ(b.values(), Floats({69}));
}

template <class T> void countUp(const Plan &plan, Tensors &tensors, const char *dtype) {
  std::vector<T> step = {0};
  fw_scalar counted = data("t", step, dtype, 1);
  for (float expected : {99.0f, 98.5f}) {
    tensors.p[0][0] = expected == 99 ? 100 : 99;
    ASSERT_EQ(fw_plan_run(plan.get(), &counted, 1, nullptr, nullptr), FW_OK) << lastError();
    EXPECT_EQ(tensors.p[0][0], expected) << dtype;
  }
  EXPECT_EQ(step[0], T(2)) << dtype;
}

TEST_F(Plans, stepsInMemoryCountTheRuns) {
  Tensors a({1});
  Plan plan = make({group(a)});
  countUp<float>(plan, a, "f32");
  countUp<double>(plan, a, "f64");
  countUp<int32_t>(plan, a, "i32");
  countUp<int64_t>(plan, a, "i64");
}

TEST_F(Plans, aStepThatGroupsShareIsCountedOnce) {
  Tensors a({1}), b({1});
  std::vector<int64_t> step = {0};
  const std::vector<fw_scalar> counted = {data("t", step, "i64", 1)};
  Plan plan = make({group(a, counted), group(b, counted)});
  for (int64_t t = 1; t <= 3; ++t) {
    ASSERT_EQ(run(plan), FW_OK) << lastError();
    EXPECT_EQ(step[0], t);
    EXPECT_EQ(a.values(), b.values());
  }
}

TEST_F(Plans, numbersInMemoryPerTensor) {
  Tensors a({1, 1, 1}), b({1});
  std::vector<int32_t> steps = {0, 1, 3};
  std::vector<double> rates = {1, 2, 4, 8};
  const std::vector<fw_scalar> counted = {data("t", steps, "i32", 1)};
  Plan plan = make({group(a, counted), group(b, {scalar("t", 2)})});
  ASSERT_EQ(run(plan, {data("lr", rates, "f64")}), FW_OK) << lastError();
  EXPECT_EQ(steps, (std::vector<int32_t>{1, 2, 4}));
  EXPECT_EQ(a.values(), Floats({99, 99, 99}));
  EXPECT_EQ(b.values(), Floats({96}));
  rates = {10, 20, 40, 80}; // read by each run
  ASSERT_EQ(run(plan, {scalar("t", 10), data("lr", rates, "f64")}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({98, 97, 95}));
  EXPECT_EQ(b.values(), Floats({88}));
}

TEST_F(Plans, setScalarsReplacesThoseOfAGroup) {
  Tensors a({1}), b({1});
  Plan plan = make({group(a, {scalar("lr", 2), scalar("t", 2)}), group(b, {scalar("t", 1)})});
  const fw_scalar changed = scalar("t", 1);
  ASSERT_EQ(fw_plan_set_scalars(plan.get(), 0, &changed, 1), FW_OK) << lastError();
  ASSERT_EQ(run(plan), FW_OK);
  EXPECT_EQ(a.values()[0], 99) << "lr is the op's again";
  ASSERT_EQ(fw_plan_set_scalars(plan.get(), 0, nullptr, 0), FW_OK);
  EXPECT_EQ(run(plan), FW_USAGE) << "now nobody gives the step";
  EXPECT_EQ(a.values()[0], 99);
  EXPECT_EQ(b.values()[0], 99);
}

TEST_F(Plans, plansOfNothing) {
  Tensors empty({0, 0});
  for (const std::vector<fw_plan_group> &groups :
       {std::vector<fw_plan_group>{}, {group(empty)}, {group(Tensors({}))}}) {
    Plan plan = make(groups);
    EXPECT_EQ(describe(plan).entries, 0u);
    EXPECT_EQ(describe(plan).elements, 0u);
    EXPECT_EQ(describe(plan).streamed_bytes, 0u);
    EXPECT_EQ(run(plan, groups.empty() ? none : std::vector<fw_scalar>{scalar("t", 1)}), FW_OK);
  }
}

TEST_F(Plans, sayWhatTheyAre) {
  Tensors a({3, 0, 70'000}), b({5});
  const fw_plan_info info = describe(make({group(a), group(b)}));
  EXPECT_EQ(info.device, FW_DEVICE_CPU);
  EXPECT_EQ(info.device_id, 0);
  EXPECT_EQ(info.entries, 3u);
  EXPECT_EQ(info.elements, 70'008u);
  EXPECT_EQ(info.streamed_bytes, 70'008u * 12);
  EXPECT_GT(info.launches, 0u);
  EXPECT_GT(info.blocks, 0u);
  EXPECT_EQ(info.workspace_bytes, 0u);
}

TEST_F(Plans, runsAreCounted) {
  Tensors a({3}), b({5});
  Plan plan = make({group(a), group(b)});
  fw_counters before = {}, after = {};
  before.struct_size = after.struct_size = sizeof before;
  ASSERT_EQ(fw_context_counters(ctx.get(), &before), FW_OK);
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK);
  ASSERT_EQ(fw_context_counters(ctx.get(), &after), FW_OK);
  EXPECT_EQ(after.launches - before.launches, describe(plan).launches);
  EXPECT_EQ(after.modules, 0u);
  EXPECT_EQ(after.table_uploads, 0u);
}

TEST_F(Plans, outliveWhatTheyWereMadeFrom) {
  Tensors a({3});
  Plan plan = make({group(a)});
  program.reset();
  req.reset();
  ctx.reset();
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({99}));
}

// --- New addresses -------------------------------------------------------------------------------

TEST_F(Plans, pointersMoveWithTheirLayouts) {
  const int64_t shape[2] = {2, 3}, strides[2] = {10, 1};
  std::vector<float> p(20, 100.0f), g(6, 1.0f), other(6, 10.0f), elsewhere(21, 50.0f);
  std::vector<fw_tensor> tensors = {tensor("f32", p.data(), shape), tensor("f32", g.data(), shape)};
  for (fw_tensor &each : tensors)
    each.rank = 2;
  tensors[0].strides = strides;
  fw_plan_group only = {};
  only.struct_size = sizeof only;
  only.program = program.get();
  only.tensors = tensors.data();
  only.tensor_count = 2;
  Plan plan = make({only});
  void *gradient = other.data(), *parameter = elsewhere.data() + 1;
  ASSERT_EQ(fw_plan_set_pointers(plan.get(), 0, "g", &gradient, 1), FW_OK) << lastError();
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK);
  ASSERT_EQ(fw_plan_set_pointers(plan.get(), 0, "p", &parameter, 1), FW_OK) << lastError();
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK);
  for (int i = 0; i < 20; ++i) {
    const bool isElement = i % 10 < 3;
    EXPECT_EQ(p[i], isElement ? 90 : 100) << i;
    EXPECT_EQ(elsewhere[i + 1], isElement ? 40 : 50) << i;
  }
  EXPECT_EQ(elsewhere[0], 50);
}

TEST_F(Plans, wrongPointersChangeNothing) {
  Tensors a({3, 0}), other({3, 0});
  Plan plan = make({group(a)});
  std::vector<void *> to = {other.g[0].data(), nullptr};
  other.g[0].assign(3, 10);
  EXPECT_ERROR(fw_plan_set_pointers(plan.get(), 0, "g", to.data(), 1), FW_USAGE,
               "g: expected one address per entry of the group, 2, got 1; pass as many addresses "
               "as entries; those of empty tensors are not read");
  EXPECT_ERROR(
      fw_plan_set_pointers(plan.get(), 0, "lr", to.data(), 2), FW_USAGE,
      "operand: expected the name of one of the program's, got 'lr'; fw_request_operand lists "
      "them; a role such as grad is not taken here");
  EXPECT_ERROR(fw_plan_set_pointers(plan.get(), 1, "g", to.data(), 2), FW_USAGE,
               "index: expected one of 1 groups, got 1; ask for their count first; indices start "
               "at 0");
  to[0] = nullptr;
  EXPECT_ERROR(fw_plan_set_pointers(plan.get(), 0, "g", to.data(), 2), FW_USAGE,
               "g of entry 0: expected an address, got NULL; only empty tensors have no memory");
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK);
  EXPECT_EQ(a.values(), Floats({99}));
}

// --- Misuse --------------------------------------------------------------------------------------

TEST_F(Plans, groupsShareNoMemoryThatIsWritten) {
  Tensors a({3, 4}), b({5}), once({3}); // which of several is told depends on addresses
  const fw_plan_group twice[] = {group(once), group(once)};
  fw_plan *plan = nullptr;
  EXPECT_ERROR(fw_plan_create(ctx.get(), twice, 2, &plan), FW_USAGE,
               "group 0, tensor 0 (p of entry 0): expected memory of its own, since it is written, "
               "got memory that group 1, tensor 0 (p of entry 0) holds too; pass separate tensors");
  std::vector<fw_tensor> mixed = b.array;
  mixed[1].data = a.p[1].data(); // its gradient
  mixed[1].shape = mixed[0].shape = &a.counts[1];
  fw_plan_group other = group(b);
  other.tensors = mixed.data();
  const fw_plan_group crossed[] = {group(a), other};
  EXPECT_ERROR(fw_plan_create(ctx.get(), crossed, 2, &plan), FW_USAGE,
               "group 0, tensor 2 (p of entry 1): expected memory of its own, since it is written, "
               "got memory that group 1, tensor 1 (g of entry 0) holds too; pass separate tensors");
  Tensors c({4});
  c.array[1].data = a.g[1].data(); // two groups may read the same
  const fw_plan_group reading[] = {group(a), group(c)};
  Plan shared = make({reading[0], reading[1]});
  EXPECT_EQ(run(shared, {scalar("t", 1)}), FW_OK) << lastError();
}

TEST_F(Plans, failedRunsWriteAndCountNothing) {
  Tensors a({3}), b({3});
  std::vector<int64_t> step = {0};
  Plan plan = make({group(a, {data("t", step, "i64", 1)}), group(b)});
  EXPECT_ERROR(run(plan), FW_USAGE,
               "t: expected the number of this step, got none; pass a scalar \"t\" that counts "
               "the applied steps from 1");
  EXPECT_ERROR(run(plan, {scalar("t", 1), scalar("lr", -1)}), FW_USAGE,
               "lr: expected a value >= 0, got -1; the op declares this range; pass a value within "
               "it");
  EXPECT_EQ(step[0], 0);
  EXPECT_EQ(a.values(), Floats({100}));
  EXPECT_EQ(b.values(), Floats({100}));
}

TEST_F(Plans, dataIsChecked) {
  Tensors a({3, 4});
  Plan plan = make({group(a)});
  std::vector<int64_t> steps(3);
  fw_scalar wrong = data("t", steps, "i64");
  EXPECT_ERROR(run(plan, {wrong}), FW_USAGE,
               "scalar 0 (t): expected data of 1 number or one per list entry, 2, got 3; set count "
               "to the numbers that data holds");
  wrong.count = 1;
  wrong.dtype = nullptr;
  EXPECT_ERROR(run(plan, {wrong}), FW_USAGE,
               "scalar 0 (t): expected dtype f32, f64, i32 or i64 of its data, got none; name the "
               "type of the numbers that data points to");
  wrong.dtype = "i64";
  wrong.data = reinterpret_cast<char *>(steps.data()) + 4;
  EXPECT_ERROR(run(plan, {wrong}), FW_USAGE,
               "scalar 0 (t): expected data at a multiple of 8 bytes, got another address; numbers "
               "stand at multiples of their size");
  std::vector<float> rate = {1};
  EXPECT_ERROR(run(plan, {scalar("t", 1), data("lr", rate, "f32", 1)}), FW_USAGE,
               "scalar 1 (lr): expected advance of 0, or 1 for the step, got 1; only the step "
               "counts runs");
  wrong = data("t", steps, "i64", 2);
  wrong.count = 1;
  EXPECT_ERROR(run(plan, {wrong}), FW_USAGE,
               "scalar 0 (t): expected advance of 0, or 1 for the step, got 2; only the step "
               "counts runs");
  EXPECT_EQ(a.values(), Floats({100, 100}));
}

TEST_F(Plans, groupsOfOneOpAlone) {
  Tensors a({3});
  fw_plan *plan = nullptr;
  Program other = compile(ctx, request(parse(ctx, "op other over elements { param p; grad g\n"
                                                  "  p = p - g\n}\n")));
  std::vector<fw_plan_group> groups = {group(a), group(a)};
  groups[1].program = other.get();
  EXPECT_EQ(fw_plan_create(ctx.get(), groups.data(), 2, &plan), FW_USAGE);
  EXPECT_EQ(lastError().substr(0, 62),
            "group 1: expected the op and options of group 0, got other for");
  groups[1].program = nullptr;
  EXPECT_EQ(fw_plan_create(ctx.get(), groups.data(), 2, &plan), FW_USAGE);
  const std::vector<fw_scalar> negative = {scalar("lr", -1)};
  groups[1] = group(a, negative);
  EXPECT_ERROR(fw_plan_create(ctx.get(), groups.data(), 2, &plan), FW_USAGE,
               "group 1: lr: expected a value >= 0, got -1; the op declares this range; pass a "
               "value within it");
  groups[1].struct_size = 8;
  EXPECT_EQ(fw_plan_create(ctx.get(), groups.data(), 2, &plan), FW_USAGE);
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Plans, groupsOfOneTargetAlone) {
  Tensors a({3});
  Request gpu = request(parse(ctx, descend));
  ASSERT_EQ(fw_request_target(gpu.get(), "sm_90"), FW_OK);
  fw_program *raw = nullptr;
  if (fw_compile(ctx.get(), gpu.get(), &raw) == FW_TOOLCHAIN)
    GTEST_SKIP() << "NVRTC is not here: " << lastError();
  Program forGpu(raw);
  std::vector<fw_plan_group> groups = {group(a), group(a)};
  groups[1].program = forGpu.get();
  fw_plan *plan = nullptr;
  EXPECT_ERROR(fw_plan_create(ctx.get(), groups.data(), 2, &plan), FW_USAGE,
               "group 1: expected a program for cpu as in group 0, got one for sm_90; compile all "
               "groups of a plan for one target");
  EXPECT_EQ(fw_plan_create(ctx.get(), &groups[1], 1, &plan), FW_DEVICE)
      << "tensors of the CPU for a program of the GPU";
  EXPECT_EQ(plan, nullptr);
}

// --- Callers of other versions -------------------------------------------------------------------

TEST_F(Plans, scalarsOfTheFirstVersionHaveNoData) {
  Tensors a({1, 1});
  const std::vector<double> rates = {1, 2};
  struct Old { // fw_scalar as 0.1 began
    uint32_t struct_size = 40, reserved = 0;
    const char *name;
    double value;
    const double *values;
    size_t count;
  };
  static_assert(sizeof(Old) == 40);
  const Old old[] = {{.name = "t", .value = 1, .values = nullptr, .count = 0},
                     {.name = "lr", .value = 0, .values = rates.data(), .count = 2}};
  Plan plan = make({group(a)});
  auto *scalars = reinterpret_cast<const fw_scalar *>(old);
  ASSERT_EQ(fw_plan_run(plan.get(), scalars, 2, nullptr, nullptr), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({99, 98}));
  ASSERT_EQ(fw_launch(ctx.get(), program.get(), a.array.data(), 4, scalars, 2, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(a.values(), Floats({98, 96}));
}

TEST_F(Plans, largerStructsOfNewerCallersAreStepped) {
  Tensors a({1}), b({1});
  struct Newer {
    fw_plan_group known;
    uint64_t unknown[3] = {~0ull, ~0ull, ~0ull};
  };
  const std::vector<fw_scalar> two = {scalar("lr", 2)};
  Newer groups[2] = {{group(a)}, {group(b, two)}};
  for (Newer &each : groups)
    each.known.struct_size = sizeof(Newer);
  Plan plan = api::make<Plan>(
      [&](fw_plan **out) { return fw_plan_create(ctx.get(), &groups[0].known, 2, out); });
  ASSERT_EQ(run(plan, {scalar("t", 1)}), FW_OK) << lastError();
  EXPECT_EQ(a.values(), Floats({99}));
  EXPECT_EQ(b.values(), Floats({98}));
}

} // namespace
