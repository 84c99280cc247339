// What the library costs the host beyond the bare launches of the same kernels with the same
// parameters (PERFORMANCE 2: H1, H2, H3), and compile counts (H7). The bare launch is read out of a
// captured run, so it has the product's own kernel, grid and parameter bytes.
//
// usage: bench-gpu-host [--json FILE]
#include "bench/gpu/Cuda.h"
#include "bench/host/Api.h"
#include "bench/host/Results.h"

#include <chrono>
#include <cstring>
#include <functional>

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

/// The kernel launches of what `work` queues.
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

private:
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

fw_tensor makeTensor(void *data, const int64_t *shape) {
  fw_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.device = FW_DEVICE_CUDA;
  tensor.rank = 1;
  tensor.dtype = "f32";
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
  static constexpr size_t tensors = 1000, operands = 4, elements = 4096;

  explicit Step(fw_context *context) : context(context) {
    request = makeRequest(context, "adamw", "cuda:0");
    program = compile(context, request);
    memory = makeBuffer(context, tensors * operands * elements * 4);
    others = makeBuffer(context, tensors * elements * 4);
    auto *base = static_cast<char *>(fw_buffer_data(memory));
    for (size_t i = 0; i < tensors; ++i)
      for (size_t k = 0; k < operands; ++k)
        list.push_back(makeTensor(base + (i * operands + k) * elements * 4, &shape));
    for (size_t i = 0; i < tensors; ++i) {
      gradients[0].push_back(list[i * operands + 1].data);
      gradients[1].push_back(static_cast<char *>(fw_buffer_data(others)) + i * elements * 4);
    }
    makePlan();
  }

  void run() {
    fw_scalar scalars[] = {makeScalar("t", ++step), makeScalar("lr", 1e-3 / step)};
    check(fw_plan_run(plan, scalars, 2, stream, nullptr));
  }
  void moveGradients() {
    const auto &next = gradients[size_t(step) % 2];
    check(fw_plan_set_pointers(plan, 0, "g", next.data(), decayed));
    check(fw_plan_set_pointers(plan, 1, "g", next.data() + decayed, tensors - decayed));
  }

private:
  static constexpr size_t decayed = 750;

  void makePlan() {
    fw_plan_group groups[2] = {};
    fw_scalar noDecay = makeScalar("weight_decay", 0);
    const size_t counts[] = {decayed, tensors - decayed};
    for (int g = 0; g < 2; ++g) {
      groups[g].struct_size = sizeof groups[g];
      groups[g].program = program;
      groups[g].tensors = list.data() + (g ? decayed * operands : 0);
      groups[g].tensor_count = counts[g] * operands;
    }
    groups[1].scalars = &noDecay;
    groups[1].scalar_count = 1;
    check(fw_plan_create(context, groups, 2, &plan));
  }

  const int64_t shape = elements;
  fw_context *context;
  fw_request *request;
  fw_program *program;
  fw_buffer *memory, *others;
  std::vector<fw_tensor> list;
  std::vector<void *> gradients[2];
  fw_plan *plan = nullptr;
  int step = 0;
};

void measureSteps(fw_context *context, std::vector<Row> &rows) {
  Step step(context);
  Bare bare([&] { step.run(); });
  if (bare.size() != 1) {
    std::fprintf(stderr, "error: expected one launch for both groups, got %zu\n", bare.size());
    std::exit(1);
  }
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
  measureOneShot(context, rows);
  countCompiles(rows);
  printTable(rows);
  if (!json.empty())
    writeJson(json, rows,
              {{"gpu", name}, {"cuda driver", version / 1000 + version % 1000 / 10 * 0.1}});
  return 0;
}
