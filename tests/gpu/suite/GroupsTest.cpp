// Groups of a plan: which share a launch, and whose scalars hold.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

class Groups : public GpuTest {
protected:
  /// The same plan on both sides, run with the same scalars; compared after each run.
  void runBoth(const std::vector<GroupSpec> &groups, const std::vector<Scalars> &runs) {
    Trial onDevice(context(), onGpu, groups), reference(context(), onCpu, groups);
    for (const Scalars &scalars : runs) {
      onDevice.run(scalars);
      reference.run(scalars);
      expectSame(onDevice, reference);
    }
  }
  fw_plan_info infoOf(const std::vector<GroupSpec> &groups) {
    return Trial(context(), onGpu, groups).info();
  }
};

const List shortList = vectors({3, 0, 700, 33}), otherList = vectors({64, 5});

TEST_F(Groups, decay_and_no_decay_are_one_launch) {
  const Kernel &adamw = compiled("adamw");
  const std::vector<GroupSpec> groups = {{&adamw, shortList, Scalars().set("weight_decay", 0.1)},
                                         {&adamw, otherList, Scalars().set("weight_decay", 0)}};
  EXPECT_EQ(infoOf(groups).launches, 1u);
  runBoth(groups, {step(1), step(2), step(3)});
}

TEST_F(Groups, two_dtype_sets_are_two_launches) {
  const Kernel &plain = compiled("adamw"), &narrow = compiled("adamw_grad_bf16");
  const std::vector<GroupSpec> groups = {{&plain, shortList, Scalars().set("weight_decay", 0.1)},
                                         {&narrow, otherList, Scalars().set("lr", 0.5)},
                                         {&plain, otherList, Scalars().set("weight_decay", 0)},
                                         {&narrow, shortList}};
  EXPECT_EQ(infoOf(groups).launches, 2u);
  runBoth(groups, {step(1), step(2)});
}

TEST_F(Groups, a_plan_says_what_it_is) {
  const fw_plan_info info =
      infoOf({{&compiled("adamw"), vectors({3, 0, 700})}, {&compiled("adamw"), vectors({5})}});
  EXPECT_EQ(info.device, FW_DEVICE_CUDA);
  EXPECT_EQ(info.device_id, 0);
  EXPECT_EQ(info.entries, 3u);
  EXPECT_EQ(info.elements, 708u);
  EXPECT_EQ(info.blocks, 3u);
  EXPECT_EQ(info.streamed_bytes, 708u * 28);
  EXPECT_GT(info.workspace_bytes, 0u);
}

TEST_F(Groups, long_tensors_are_many_blocks) {
  const Kernel &scale = compiled("scale");
  EXPECT_EQ(infoOf({{&scale, vectors({5 * scale.chunk + 1, scale.chunk})}}).blocks, 7u);
}

TEST_F(Groups, scalars_of_the_run_win_over_those_of_the_group) {
  const Kernel &adamw = compiled("adamw");
  Scalars run = step(4);
  run.set("lr", 0.25);
  runBoth({{&adamw, shortList, Scalars().set("lr", 0.5).set("t", 2)},
           {&adamw, otherList, Scalars().set("eps", 1e-3)}},
          {run, step(5)});
}

TEST_F(Groups, every_tensor_may_have_its_own_scalars) {
  const Kernel &adamw = compiled("adamw");
  const Scalars own = Scalars().set("lr", {0.1, 0.2, 0.3, 0.4}).set("t", {1, 5, 9, 2});
  runBoth({{&adamw, shortList, own}, {&adamw, otherList, step(3)}}, {{}, {}});
  Scalars run; // of all entries of the plan
  run.set("t", {1, 5, 9, 2, 7, 3}).set("weight_decay", {0, 0.1, 0.2, 0.3, 0.4, 0.5});
  runBoth({{&adamw, shortList}, {&adamw, otherList}}, {run, step(2), run});
}

/// `count` groups of one tensor, each with a learning rate of its own.
std::vector<GroupSpec> manyGroups(const Kernel &kernel, int count) {
  std::vector<GroupSpec> groups;
  for (int g = 0; g < count; ++g)
    groups.push_back({&kernel, vectors({g + 1}), Scalars().set("lr", 0.01 * (g + 1))});
  return groups;
}

TEST_F(Groups, more_of_them_than_parameters_hold) {
  const Kernel &adamw = compiled("adamw");
  EXPECT_EQ(infoOf(manyGroups(adamw, 40)).launches, 1u);
  for (int count : {15, 16, 17, 40})
    runBoth(manyGroups(adamw, count), {step(1), step(1), step(2)});
}

/// A value for each of `count` tensors.
std::vector<double> values(size_t count, double first) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(first + double(i) / 16);
  return values;
}

TEST_F(Groups, more_rows_of_scalars_than_parameters_hold) {
  const Kernel &polynomial = compiled("polynomial_x_f64");
  for (size_t count : {3, 9, 40}) {
    const List list = vectors(Sizes(count, 20));
    const Scalars own = Scalars().set("a3", values(count, 1)).set("d9", values(count, 2));
    runBoth({{&polynomial, list, own}}, {step(1), step(2)});
    Scalars each = own; // rows of their own and one row take turns
    each.set("t", 3);
    runBoth({{&polynomial, list}}, {step(1), each, step(2), each, step(2)});
    Trial once(context(), onGpu, {{&polynomial, list}}),
        reference(context(), onCpu, {{&polynomial, list}});
    Scalars given = own;
    given.set("t", 3);
    once.launch(given);
    reference.run(given);
    expectSame(once, reference);
  }
}

TEST_F(Groups, set_scalars_replaces_all_of_a_group) {
  const Kernel &adamw = compiled("adamw");
  const std::vector<GroupSpec> before = {
      {&adamw, shortList, Scalars().set("lr", 0.5).set("weight_decay", 0.1)}, {&adamw, otherList}};
  Trial onDevice(context(), onGpu, before), reference(context(), onCpu, before);
  const Scalars changed = Scalars().set("lr", {1, 2, 3, 4});
  for (Trial *trial : {&onDevice, &reference}) {
    trial->run(step(1));
    const auto &given = changed.array();
    EXPECT_OK(fw_plan_set_scalars(trial->plan(), 0, given.data(), given.size()));
    trial->run(step(2));
  }
  expectSame(onDevice, reference);
  std::vector<GroupSpec> after = before;
  after[0].scalars = changed; // the decay is the op's default again
  Trial expected(context(), onCpu, before), rest(context(), onCpu, after);
  expected.run(step(1));
  for (size_t g = 0; g < 2; ++g)
    std::memcpy(rest.base(g), expected.base(g), expected.image(g).size());
  rest.run(step(2));
  expectSame(onDevice, rest);
}

TEST_F(Groups, nothing_to_do_is_no_launch) {
  const Kernel &adamw = compiled("adamw");
  const fw_counters before = FreshContext::countersOf(context());
  for (const std::vector<GroupSpec> &groups :
       {std::vector<GroupSpec>{}, {{&adamw, {}}}, {{&adamw, vectors({0, 0})}, {&adamw, {}}}}) {
    Trial trial(context(), onGpu, groups);
    EXPECT_EQ(trial.info().launches, 0u);
    EXPECT_EQ(trial.info().entries, 0u);
    trial.run(groups.empty() ? Scalars() : step(1));
  }
  EXPECT_EQ(FreshContext::countersOf(context()).launches, before.launches);
}

TEST_F(Groups, a_run_is_one_launch_and_nothing_else) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(
      context(), onGpu,
      {{&adamw, shortList, Scalars().set("weight_decay", 0)}, {&adamw, vectors(Sizes(100, 9))}});
  trial.run(step(1));
  const uint64_t workspace = trial.info().workspace_bytes;
  const fw_counters before = FreshContext::countersOf(context());
  for (int t = 2; t < 102; ++t)
    trial.run(step(t).set("lr", 1.0 / t));
  const fw_counters after = FreshContext::countersOf(context());
  EXPECT_EQ(after.launches - before.launches, 100u);
  EXPECT_EQ(after.table_uploads, before.table_uploads);
  EXPECT_EQ(after.modules, before.modules);
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(trial.info().workspace_bytes, workspace);
}

} // namespace
} // namespace suite
