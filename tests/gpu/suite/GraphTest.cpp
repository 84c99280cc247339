// Runs of a plan captured in CUDA graphs.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

const List list = vectors({3, 0, 700, 33}), otherList = vectors({64, 5});

class Graphs : public GpuTest {
protected:
  /// Groups of two dtype sets that count one step and read one rate.
  std::vector<GroupSpec> resident(const Numbers<int64_t> &t, const Numbers<float> &lr) {
    Scalars scalars;
    scalars.setData("t", t.data(), "i64", 1, true).setData("lr", lr.data(), "f32");
    std::vector<GroupSpec> groups = {{&compiled("adamw"), list, scalars},
                                     {&compiled("adamw"), otherList, scalars},
                                     {&compiled("adamw_grad_bf16"), list, scalars}};
    groups[1].scalars.set("weight_decay", 0);
    return groups;
  }
  template <class T> Numbers<T> number(T value) { return {context(), onGpu, {value}}; }
};

TEST_F(Graphs, a_hundred_replays_are_a_hundred_steps) {
  const int count = isQuick() ? 10 : 100;
  Numbers<int64_t> t1 = number<int64_t>(0), t2 = number<int64_t>(0);
  Numbers<float> lr1 = number(0.1f), lr2 = number(0.1f);
  Trial captured(context(), onGpu, resident(t1, lr1)), eager(context(), onGpu, resident(t2, lr2));
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { captured.run({}, stream); });
  EXPECT_EQ(captured.image(), captured.arena().bytes) << "a capture runs nothing";
  for (int step = 1; step <= count; ++step) {
    const float rate = 0.1f / float(step);
    lr1.write({rate}, stream);
    lr2.write({rate}, stream);
    graph.launch(stream);
    eager.run({}, stream);
  }
  stream.synchronize();
  EXPECT_EQ(t1.read(), std::vector<int64_t>{count});
  EXPECT_EQ(captured.images(), eager.images());
}

/// Scalars that the device computes go to a table, which a replay may write at any time.
TEST_F(Graphs, rows_that_a_graph_computes_are_its_own) {
  Numbers<int64_t> t = number<int64_t>(0);
  Numbers<float> lr = number(0.1f);
  Trial trial(context(), onGpu, resident(t, lr));
  cuda::Stream stream;
  trial.run({}, stream);
  cuda::Graph graph(stream, [&] { trial.run({}, stream); });
  const uint64_t captured = trial.info().workspace_bytes;
  trial.run({}, stream);
  const uint64_t both = trial.info().workspace_bytes;
  EXPECT_GT(both, captured);
  trial.run({}, stream);
  EXPECT_EQ(trial.info().workspace_bytes, both);
}

TEST_F(Graphs, replays_equal_the_cpu) {
  Numbers<int64_t> t = number<int64_t>(0);
  Numbers<float> lr = number(0.25f);
  std::vector<GroupSpec> onHost = resident(t, lr);
  for (GroupSpec &group : onHost)
    group.scalars = {};
  onHost[1].scalars.set("weight_decay", 0);
  Trial captured(context(), onGpu, resident(t, lr)), reference(context(), onCpu, onHost);
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { captured.run({}, stream); });
  for (int step = 1; step <= 3; ++step) {
    graph.launch(stream);
    reference.run(Scalars().set("t", step).set("lr", 0.25));
  }
  expectSame(captured, reference, stream);
}

TEST_F(Graphs, host_values_are_those_of_the_capture) {
  const Kernel &adamw = compiled("adamw");
  Trial captured(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  cuda::Stream stream;
  captured.run(Scalars().set("t", 1), stream);
  cuda::Graph graph(stream, [&] { captured.run(Scalars().set("t", 9).set("lr", 0.5), stream); });
  captured.run(Scalars().set("t", 2), stream);
  graph.launch(stream);
  for (double t : {1, 2})
    reference.run(Scalars().set("t", t));
  reference.run(Scalars().set("t", 9).set("lr", 0.5));
  expectSame(captured, reference, stream);
}

TEST_F(Graphs, more_scalars_than_parameters_hold_are_kept_too) {
  const Kernel &adamw = compiled("adamw");
  const List many = vectors(Sizes(40, 5));
  std::vector<double> first, second;
  for (int i = 0; i < 40; ++i) {
    first.push_back(0.01 * i);
    second.push_back(1 - 0.01 * i);
  }
  Trial captured(context(), onGpu, {{&adamw, many}}), reference(context(), onCpu, {{&adamw, many}});
  cuda::Stream stream;
  const Scalars one = Scalars().set("t", 2).set("lr", first),
                two = Scalars().set("t", 3).set("lr", second);
  cuda::Graph graph(stream, [&] { captured.run(one, stream); });
  captured.run(two, stream);
  graph.launch(stream);
  captured.run(two, stream);
  graph.launch(stream);
  for (const Scalars *scalars : {&two, &one, &two, &one})
    reference.run(*scalars);
  expectSame(captured, reference, stream);
}

/// Gradients of `trial` at another block of the same layout, moved by some bytes.
void pointAt(Trial &trial, const Block &block, ptrdiff_t by) {
  std::vector<void *> addresses = trial.addresses(0, "g", by);
  for (void *&address : addresses)
    address = static_cast<char *>(block.data()) +
              (static_cast<char *>(address) - static_cast<char *>(trial.base()));
  EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, "g", addresses.data(), addresses.size()));
}

void pointBack(Trial &trial) {
  std::vector<void *> addresses = trial.addresses(0, "g");
  EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, "g", addresses.data(), addresses.size()));
}

TEST_F(Graphs, a_captured_graph_keeps_its_pointers) {
  const Kernel &adamw = compiled("adamw");
  const Arena other(adamw, list, 99);
  auto step = [](double t) { return Scalars().set("t", t); };
  for (ptrdiff_t by : {0, 4}) { // 4: with other heads, so with other blocks
    Trial captured(context(), onGpu, {{&adamw, list}}),
        reference(context(), onCpu, {{&adamw, list}});
    Block theirs(context(), onGpu, other.bytes), ours(context(), onCpu, other.bytes);
    cuda::Stream stream;
    pointAt(captured, theirs, by); // a capture right behind a change
    cuda::Graph there(stream, [&] { captured.run(step(1), stream); });
    pointBack(captured);
    cuda::Graph here(stream, [&] { captured.run(step(2), stream); });
    pointAt(captured, theirs, 8);
    captured.run(step(3), stream);
    here.launch(stream);
    there.launch(stream);
    pointAt(reference, ours, 8);
    reference.run(step(3));
    pointBack(reference);
    reference.run(step(2));
    pointAt(reference, ours, by);
    reference.run(step(1));
    expectSame(captured, reference, stream);
  }
}

TEST_F(Graphs, a_captured_graph_keeps_where_its_numbers_are) {
  const Kernel &adamw = compiled("adamw");
  Numbers<int64_t> first = number<int64_t>(0), second = number<int64_t>(40);
  auto counts = [](const Numbers<int64_t> &t) {
    return Scalars().setData("t", t.data(), "i64", 1, true);
  };
  Trial captured(context(), onGpu, {{&adamw, list, counts(first)}}),
      reference(context(), onCpu, {{&adamw, list}});
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { captured.run({}, stream); });
  EXPECT_OK(fw_plan_set_scalars(captured.plan(), 0, counts(second).array().data(), 1));
  for (int round = 1; round <= 2; ++round) {
    captured.run({}, stream);
    graph.launch(stream);
    reference.run(Scalars().set("t", 40 + round));
    reference.run(Scalars().set("t", round));
  }
  expectSame(captured, reference, stream);
  EXPECT_EQ(first.read(), std::vector<int64_t>{2});
  EXPECT_EQ(second.read(), std::vector<int64_t>{42});
}

TEST_F(Graphs, several_runs_in_one_graph) {
  const Kernel &adamw = compiled("adamw");
  Trial captured(context(), onGpu, {{&adamw, list}}), reference(context(), onCpu, {{&adamw, list}});
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] {
    for (int t = 1; t <= 3; ++t)
      captured.run(Scalars().set("t", t), stream);
  });
  EXPECT_EQ(graph.nodes(), 3u);
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch(stream);
    for (int t = 1; t <= 3; ++t)
      reference.run(Scalars().set("t", t));
  }
  expectSame(captured, reference, stream);
}

/// A kernel that no other test has loaded, in a context of its own.
struct Unloaded {
  FreshContext context;
  std::unique_ptr<Kernel> kernel = makeKernel(context, "adamw");
};

TEST_F(Graphs, case_Q05_a_first_use_inside_a_capture_is_refused) {
  Unloaded fresh;
  Trial plan(context(), onGpu, {{&compiled("adamw"), list}});
  const Arena arena(*fresh.kernel, list, 1);
  Block block(context(), onGpu, arena.bytes);
  auto tensors = arena.tensors(block.data(), FW_DEVICE_CUDA);
  const Scalars scalars = Scalars().set("t", 1);
  const auto &given = scalars.array();
  cuda::Stream stream;
  auto launch = [&] {
    return fw_launch(fresh.context, fresh.kernel->gpu.get(), tensors.data(), tensors.size(),
                     given.data(), given.size(), stream);
  };
  cuda::Graph graph(stream, [&] {
    EXPECT_FAULT(launch(), FW_USAGE, "fw_preload");
    EXPECT_TRUE(stream.isCapturing()) << "the refusal leaves the capture alone";
    plan.run(scalars, stream);
  });
  EXPECT_EQ(graph.nodes(), 1u);
  graph.launch(stream);
  EXPECT_EQ(block.read(stream), arena.bytes);
  EXPECT_NE(plan.image(0, stream), plan.arena().bytes);
  EXPECT_OK(fw_preload(fresh.context, fresh.kernel->gpu.get(), 0));
  cuda::Graph warm(stream, [&] { EXPECT_OK(launch()); });
  EXPECT_EQ(block.read(stream), arena.bytes);
  warm.launch(stream);
  EXPECT_EQ(arena.check(block.read(stream), scalars), "");
}

TEST_F(Graphs, a_plan_made_before_the_capture_may_run_first_inside_it) {
  Unloaded fresh;
  Trial captured(fresh.context, onGpu, {{fresh.kernel.get(), list}});
  Trial reference(fresh.context, onCpu, {{fresh.kernel.get(), list}});
  cuda::Stream stream;
  cuda::Graph graph(stream, [&] { captured.run(Scalars().set("t", 1), stream); });
  graph.launch(stream);
  reference.run(Scalars().set("t", 1));
  expectSame(captured, reference, stream);
}

TEST_F(Graphs, plans_may_be_made_while_a_stream_captures) {
  const Kernel &adamw = compiled("adamw");
  for (int mode : {cuda::CAPTURE_GLOBAL, cuda::CAPTURE_THREAD, cuda::CAPTURE_RELAXED}) {
    Trial captured(context(), onGpu, {{&adamw, list}}),
        reference(context(), onCpu, {{&adamw, list}});
    Unloaded fresh;
    Block block(context(), onGpu, captured.arena().bytes);
    GroupArray groups(onGpu);
    groups.add(*fresh.kernel, captured.arena().tensors(block.data(), FW_DEVICE_CUDA));
    const std::vector<fw_plan_group> array = groups.array();
    api::Plan made;
    cuda::Stream stream;
    const Scalars step = Scalars().set("t", 1);
    auto work = [&] {
      captured.run(step, stream);
      made = api::make<api::Plan>(
          [&](fw_plan **out) { return fw_plan_create(fresh.context, array.data(), 1, out); });
      EXPECT_OK(fw_plan_run(made.get(), step.array().data(), 1, stream, nullptr));
    };
    cuda::Graph graph(stream, work, mode);
    EXPECT_EQ(graph.nodes(), 2u);
    graph.launch(stream);
    reference.run(step);
    expectSame(captured, reference, stream);
    EXPECT_EQ(captured.arena().compare(block.read(stream), reference.image()), "");
  }
}

TEST_F(Graphs, buffers_are_not_copied_inside_a_capture) {
  Numbers<int64_t> number = this->number<int64_t>(7);
  api::Buffer buffer = api::make<api::Buffer>(
      [&](fw_buffer **out) { return fw_buffer_create(context(), FW_DEVICE_CUDA, 0, 8, out); });
  Trial plan(context(), onGpu, {{&compiled("adamw"), list}});
  cuda::Stream stream;
  int64_t word = 0;
  cuda::Graph graph(stream, [&] {
    EXPECT_FAULT(fw_buffer_copy_in(buffer.get(), 0, &word, 8, stream), FW_USAGE, "captured");
    EXPECT_FAULT(fw_buffer_copy_out(buffer.get(), 0, &word, 8, stream), FW_USAGE, "captured");
    plan.run(Scalars().set("t", 1), stream);
  });
  EXPECT_EQ(graph.nodes(), 1u);
}

} // namespace
} // namespace suite
