// What the library costs the host beyond the bare launches of the same kernels with the same
// parameters (PERFORMANCE 2: H1, H2, H3), and compile counts (H7). The bare launch is read out of a
// captured run, so it has the product's own kernels, grids and parameter bytes. A whole step is
// norm, unscale, clip, AdamW and copy, in two launches.
//
// usage: bench-gpu-host [--json FILE]
#include "bench/gpu/Cuda.h"
#include "bench/host/Api.h"
#include "bench/host/Results.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

using namespace bench;

namespace {

const cuda::Api cu;
cuda::Handle stream;

/// Microseconds of a call on an empty queue, beside those of another: alternating, so that both see
/// the same machine.
struct Pair {
  double call, bare;
};

double microseconds(const std::function<void()> &work) {
  FW_BENCH_CHECK(cuStreamSynchronize(stream));
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

Pair measure(const std::function<void()> &call, const std::function<void()> &bare) {
  constexpr int warmUp = 50, rounds = 2001;
  std::vector<double> calls, bares;
  for (int i = 0; i < warmUp + rounds; ++i) {
    double first = microseconds(call), second = microseconds(bare);
    if (i < warmUp)
      continue;
    calls.push_back(first);
    bares.push_back(second);
  }
  return {median(std::move(calls)), median(std::move(bares))};
}

/// The kernel launches of what `work` queues, and how much else that is (copies).
class Bare {
public:
  explicit Bare(const std::function<void()> &work) {
    cuda::Handle graph;
    FW_BENCH_CHECK(cuStreamBeginCapture_v2(stream, 0));
    work();
    FW_BENCH_CHECK(cuStreamEndCapture(stream, &graph));
    size_t count = 0;
    FW_BENCH_CHECK(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<cuda::Handle> handles(count);
    FW_BENCH_CHECK(cuGraphGetNodes(graph, handles.data(), &count));
    for (cuda::Handle node : handles) {
      constexpr int KERNEL = 0;
      int type = KERNEL;
      FW_BENCH_CHECK(cuGraphNodeGetType(node, &type));
      if (type != KERNEL) {
        ++others;
        continue;
      }
      nodes.emplace_back();
      FW_BENCH_CHECK(cuGraphKernelNodeGetParams_v2(node, &nodes.back()));
    }
    FW_BENCH_CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  }
  void launch() const {
    for (const cuda::KernelNode &node : nodes)
      FW_BENCH_CHECK(cuLaunchKernel(node.function ? node.function : node.kernel, node.grid[0],
                                    node.grid[1], node.grid[2], node.block[0], node.block[1],
                                    node.block[2], node.sharedBytes, stream, node.parameters,
                                    node.extra));
  }
  void replay() const { FW_BENCH_CHECK(cuGraphLaunch(executable, stream)); }
  size_t size() const { return nodes.size(); }
  size_t otherNodes() const { return others; }

private:
  size_t others = 0;
  std::vector<cuda::KernelNode> nodes;
  cuda::Handle executable = nullptr;
};

fw_buffer *makeBuffer(fw_context *context, size_t bytes) {
  fw_buffer *buffer = nullptr;
  check(fw_buffer_create(context, FW_DEVICE_CUDA, 0, bytes, &buffer));
  std::vector<char> zeros(bytes);
  check(fw_buffer_copy_in(buffer, 0, zeros.data(), bytes, stream));
  return buffer;
}

fw_tensor makeTensor(void *data, const int64_t *shape, const char *dtype = "f32") {
  fw_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.device = FW_DEVICE_CUDA;
  tensor.rank = 1;
  tensor.dtype = dtype;
  tensor.data = data;
  tensor.shape = shape;
  return tensor;
}

fw_scalar makeScalar(const char *name, double value) {
  fw_scalar scalar = {};
  scalar.struct_size = sizeof scalar;
  scalar.name = name;
  scalar.value = value;
  return scalar;
}

/// AdamW over 1000 tensors of 4096 elements, a quarter of which is not decayed.
class Step {
public:
  static constexpr size_t tensors = 1000, elements = 4096;

  Step(fw_context *context, std::initializer_list<const char *> features)
      : context(context), request(makeRequest(context, "adamw", "cuda:0")) {
    for (const char *feature : features)
      check(fw_request_feature(request, feature));
    program = compile(context, request);
    readOperands();
    memory = makeBuffer(context, (tensors * ofEntries.size() + ofAll.size()) * slotBytes);
    others = makeBuffer(context, tensors * slotBytes);
    placeTensors();
    for (size_t i = 0; i < tensors; ++i) {
      gradients[0].push_back(list[i * ofEntries.size() + gradient].data);
      gradients[1].push_back(static_cast<char *>(fw_buffer_data(others)) + i * slotBytes);
    }
    makePlan();
  }

  /// Step and rate change from run to run: as host values, or as numbers that the device holds.
  void run() {
    fw_scalar scalars[] = {makeScalar("t", ++step), makeScalar("lr", 1e-3 / step)};
    if (held) {
      auto *numbers = static_cast<char *>(fw_buffer_data(held));
      scalars[0] = heldScalar("t", numbers, "i64");
      scalars[0].advance = 1;
      scalars[1] = heldScalar("lr", numbers + sizeof(int64_t), "f32");
    }
    check(fw_plan_run(plan, scalars, 2, stream, nullptr));
  }
  void holdScalarsOnDevice() {
    const struct {
      int64_t step = 1;
      float rate = 1e-3f, unused = 0;
    } numbers;
    held = makeBuffer(context, sizeof numbers);
    check(fw_buffer_copy_in(held, 0, &numbers, sizeof numbers, stream));
  }
  void moveGradients() {
    const auto &next = gradients[size_t(step) % 2];
    check(fw_plan_set_pointers(plan, 0, "g", next.data(), decayed));
    check(fw_plan_set_pointers(plan, 1, "g", next.data() + decayed, tensors - decayed));
  }

private:
  static fw_scalar heldScalar(const char *name, void *data, const char *dtype) {
    fw_scalar scalar = makeScalar(name, 0);
    scalar.data = data;
    scalar.count = 1;
    scalar.dtype = dtype;
    return scalar;
  }

  static constexpr size_t decayed = 750;
  static constexpr size_t slotBytes = elements * 4; ///< for a tensor of any dtype here

  void readOperands() {
    size_t count = 0;
    check(fw_request_operand_count(request, &count));
    for (size_t k = 0; k < count; ++k) {
      fw_operand_info info = {};
      info.struct_size = sizeof info;
      check(fw_request_operand(request, k, &info));
      if (!std::strcmp(info.role, "grad"))
        gradient = ofEntries.size();
      (std::strcmp(info.scope, "all") ? ofEntries : ofAll).push_back(info.dtype);
    }
  }

  void placeTensors() {
    auto *at = static_cast<char *>(fw_buffer_data(memory));
    for (size_t i = 0; i < tensors; ++i)
      for (const char *dtype : ofEntries)
        list.push_back(makeTensor(std::exchange(at, at + slotBytes), &shape, dtype));
    for (const char *dtype : ofAll)
      numbers.push_back(makeTensor(std::exchange(at, at + slotBytes), &one, dtype));
  }

  void makePlan() {
    fw_plan_group groups[2] = {};
    const fw_scalar scalars[] = {makeScalar("all.scale", 65536), makeScalar("weight_decay", 0)};
    const size_t first = ofAll.empty() ? 1 : 0; // no scale without unscaling
    std::vector<fw_tensor> lists[2];
    for (size_t i = 0; i < list.size(); ++i)
      lists[i / ofEntries.size() >= decayed].push_back(list[i]);
    for (int g = 0; g < 2; ++g) {
      lists[g].insert(lists[g].end(), numbers.begin(), numbers.end());
      groups[g].struct_size = sizeof groups[g];
      groups[g].program = program;
      groups[g].tensors = lists[g].data();
      groups[g].tensor_count = lists[g].size();
      groups[g].scalars = scalars + first;
      groups[g].scalar_count = (g ? 2 : 1) - first;
    }
    check(fw_plan_create(context, groups, 2, &plan));
  }

  const int64_t shape = elements, one = 1;
  fw_context *context;
  fw_request *request;
  fw_program *program = nullptr;
  fw_buffer *memory = nullptr, *others = nullptr;
  fw_buffer *held = nullptr;                  ///< step and rate, where the device holds them
  std::vector<const char *> ofEntries, ofAll; ///< dtypes of operands
  size_t gradient = 0;                        ///< place among those of entries
  std::vector<fw_tensor> list, numbers;
  std::vector<void *> gradients[2];
  fw_plan *plan = nullptr;
  int step = 0;
};

void expectLaunches(const Bare &bare, size_t count) {
  if (bare.size() == count)
    return;
  std::fprintf(stderr, "error: expected %zu launches for both groups, got %zu\n", count,
               bare.size());
  std::exit(1);
}

void measureSteps(fw_context *context, std::vector<Row> &rows) {
  Step step(context, {});
  Bare bare([&] { step.run(); });
  expectLaunches(bare, 1);
  Pair same = measure([&] { step.run(); }, [&] { bare.launch(); });
  Pair graph = measure([&] { bare.replay(); }, [&] { bare.launch(); });
  Pair moved = measure([&] { step.moveGradients(), step.run(); }, [&] { bare.launch(); });
  rows.push_back(
      {"H1",
       "adamw, 1000 tensors, beyond the bare launch",
       same.call - same.bare,
       "us",
       3,
       1,
       {{"whole call", same.call}, {"bare launch", same.bare}, {"cuGraphLaunch", graph.call}}});
  rows.push_back({"H2",
                  "the same with 1000 new gradients",
                  moved.call - moved.bare,
                  "us",
                  10,
                  3,
                  {{"whole call", moved.call}, {"bare launch", moved.bare}}});
}

/// Two launches: norm and scalars, then unscale, clip, AdamW and copy. A new host value is an
/// upload of its own; what the device holds is read where it is.
void measureWholeSteps(fw_context *context, bool onDevice, std::vector<Row> &rows) {
  const std::string where = onDevice ? ", step and lr on the device" : ", step and lr new";
  Step step(context, {"unscale", "clip", "copy", "guard"});
  if (onDevice)
    step.holdScalarsOnDevice();
  step.run();
  Bare bare([&] { step.run(); });
  expectLaunches(bare, 2);
  Pair same = measure([&] { step.run(); }, [&] { bare.launch(); });
  Pair graph = measure([&] { bare.replay(); }, [&] { bare.launch(); });
  Pair moved = measure([&] { step.moveGradients(), step.run(); }, [&] { bare.launch(); });
  rows.push_back({"H1",
                  "whole step, 1000 tensors, beyond two launches" + where,
                  same.call - same.bare,
                  "us",
                  3,
                  1,
                  {{"whole call", same.call},
                   {"two bare launches", same.bare},
                   {"cuGraphLaunch", graph.call},
                   {"other nodes in the graph", bare.otherNodes()}}});
  rows.push_back({"H2",
                  "whole step with 1000 new gradients" + where,
                  moved.call - moved.bare,
                  "us",
                  10,
                  3,
                  {{"whole call", moved.call}, {"two bare launches", moved.bare}}});
}

void measureOneShot(fw_context *context, std::vector<Row> &rows) {
  const int64_t shape = 1 << 16;
  fw_program *program = compile(context, makeRequest(context, "scale", "cuda:0"));
  fw_buffer *x = makeBuffer(context, size_t(shape) * 4),
            *y = makeBuffer(context, size_t(shape) * 4);
  fw_tensor tensors[] = {makeTensor(fw_buffer_data(x), &shape),
                         makeTensor(fw_buffer_data(y), &shape)};
  fw_scalar factor = makeScalar("a", 0.5);
  auto launch = [&] { check(fw_launch(context, program, tensors, 2, &factor, 1, stream)); };
  check(fw_preload(context, program, 0));
  Bare bare(launch);
  Pair pair = measure(launch, [&] { bare.launch(); });
  rows.push_back({"H3",
                  "scale, one-shot, beyond the bare launch",
                  pair.call - pair.bare,
                  "us",
                  1,
                  0.3,
                  {{"whole call", pair.call}, {"bare launch", pair.bare}}});
}

/// 1000 learning rates, 5 list lengths, up to 1000 tensors, in a fresh cache: one compile.
void countCompiles(std::vector<Row> &rows) {
  char folder[] = "/tmp/fusewright-bench-XXXXXX";
  if (!mkdtemp(folder))
    std::exit(1);
  fw_context *context = makeContext(folder);
  fw_program *program = compile(context, makeRequest(context, "sgd", "cuda:0"));
  fw_buffer *memory = makeBuffer(context, 2000 * 256);
  static const int64_t shape = 64;
  std::vector<fw_tensor> list;
  for (size_t i = 0; i < 2000; ++i)
    list.push_back(makeTensor(static_cast<char *>(fw_buffer_data(memory)) + i * 256, &shape));
  int rate = 0;
  for (size_t length : {1, 10, 100, 500, 1000}) {
    fw_plan_group group = {};
    group.struct_size = sizeof group;
    group.program = program;
    group.tensors = list.data();
    group.tensor_count = length * 2;
    fw_plan *plan = nullptr;
    check(fw_plan_create(context, &group, 1, &plan));
    for (int i = 0; i < 200; ++i) {
      fw_scalar lr = makeScalar("lr", 1e-3 * ++rate);
      check(fw_plan_run(plan, &lr, 1, stream, nullptr));
    }
    FW_BENCH_CHECK(cuStreamSynchronize(stream));
    fw_plan_destroy(plan);
  }
  fw_counters counters = {};
  counters.struct_size = sizeof counters;
  check(fw_context_counters(context, &counters));
  rows.push_back({"H7",
                  "compiles: 1000 lr, 5 lengths, 1000 tensors",
                  double(counters.compiles),
                  "count",
                  1,
                  1,
                  {}});
}

} // namespace

int main(int argc, char **argv) {
  std::string json = argc == 3 && !std::strcmp(argv[1], "--json") ? argv[2] : "";
  if (argc != 1 && json.empty()) {
    std::fprintf(stderr, "usage: bench-gpu-host [--json FILE]\n");
    return 2;
  }
  cuda::Handle primary;
  int version = 0;
  char name[256] = "";
  FW_BENCH_CHECK(cuInit(0));
  FW_BENCH_CHECK(cuDriverGetVersion(&version));
  FW_BENCH_CHECK(cuDeviceGetName(name, sizeof name, 0));
  FW_BENCH_CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  FW_BENCH_CHECK(cuCtxSetCurrent(primary));
  FW_BENCH_CHECK(cuStreamCreate(&stream, 1));

  std::vector<Row> rows;
  fw_context *context = nullptr;
  check(fw_context_create(nullptr, &context));
  measureSteps(context, rows);
  for (bool onDevice : {true, false})
    measureWholeSteps(context, onDevice, rows);
  measureOneShot(context, rows);
  countCompiles(rows);
  printTable(rows);
  if (!json.empty())
    writeJson(json, rows,
              {{"gpu", name}, {"cuda driver", version / 1000 + version % 1000 / 10 * 0.1}});
  return 0;
}
