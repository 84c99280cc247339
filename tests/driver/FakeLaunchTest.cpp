// Launches of kernels, whose host twins are plain loops here.
#include "tests/driver/Cuda.h"
#include "tests/driver/Images.h"

#include <numeric>
#include <set>

namespace fw::driver {
namespace {

struct Add {
  uint32_t *data;
  uint32_t value, count;
};

/// data[i] += value for every thread i below count.
const char *runAdd(const void *, const fake_cuda_launch *launch) {
  const Add &add = *static_cast<const Add *>(launch->parameters);
  for (uint32_t k = 0; k < launch->grid * launch->threads; ++k)
    if (k < add.count)
      add.data[k] += add.value;
  return nullptr;
}

const char *runFault(const void *, const fake_cuda_launch *) {
  return "block 3, thread 1: store of 16 bytes";
}

const char *keepSeed(const void *self, const fake_cuda_launch *launch) {
  (*static_cast<std::vector<uint64_t> *const *>(self))->push_back(launch->seed);
  return nullptr;
}

class FakeLaunch : public FakeTest {
protected:
  static constexpr unsigned threads = 32;

  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped())
      return;
    fake.launch_nothing(0);
    OK(cu.libraryLoadData(&library, cubin(90, {"add", "orphan"}).data(), nullptr, nullptr, 0,
                          nullptr, nullptr, 0));
    function = find("add");
    use({"add", threads, sizeof(Add), nullptr, runAdd});
    data = allocate(400);
    queue = stream();
    OK(cu.memsetD8(data, 0, 400));
    OK(cu.ctxSynchronize());
    fake.forget_calls();
  }

  void use(fake_cuda_kernel kernel) {
    fake.forget_kernels();
    EXPECT_EQ(fake.register_kernel(&kernel), 1);
  }

  CUfunction find(const char *name) {
    CUkernel kernel = nullptr;
    CUfunction found = nullptr;
    EXPECT_EQ(cu.libraryGetKernel(&kernel, library, name), Answer::SUCCESS);
    EXPECT_EQ(cu.kernelGetFunction(&found, kernel), Answer::SUCCESS);
    EXPECT_EQ(cu.funcLoad(found), Answer::SUCCESS);
    return found;
  }

  CUresult launch(CUstream stream, uint32_t value = 1) {
    Add add{reinterpret_cast<uint32_t *>(data), value, 100};
    void *parameters[] = {&add};
    return cu.launchKernel(function, 4, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
  }

  std::vector<uint32_t> numbers() {
    std::vector<uint32_t> to(100);
    EXPECT_EQ(fake.peek(data, to.data(), 400), 1);
    return to;
  }

  /// The violations, which are then forgotten.
  std::string violations() {
    const char *text = fake.check();
    std::string kept = text ? text : "";
    fake.heal();
    return kept;
  }

  CUlibrary library = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  CUstream queue = nullptr;
};

TEST_F(FakeLaunch, RunsTheTwinLate) {
  OK(launch(queue, 3));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 0));
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 3));
  EXPECT_EQ(counts().launches, 1u);
}

TEST_F(FakeLaunch, ASteadyStepIsOneCall) {
  OK(launch(queue));
  fake.forget_calls();
  OK(launch(queue));
  EXPECT_STREQ(fake.call_list(), "cuLaunchKernel 1");
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 1u);
  EXPECT_EQ(fake.calls("cuMemAlloc_v2"), 0u);
  EXPECT_EQ(fake.calls("cuNoSuch"), UINT64_MAX);
}

TEST_F(FakeLaunch, TakesABuffer) {
  Add add{reinterpret_cast<uint32_t *>(data), 5, 100};
  size_t bytes = sizeof add;
  auto word = [](uintptr_t value) { return reinterpret_cast<void *>(value); };
  void *extra[] = {word(LaunchWord::POINTER), &add, word(LaunchWord::SIZE), &bytes,
                   word(LaunchWord::END)};
  void *parameters[] = {&add};
  auto launch = [&](void **parameters, void **extra) {
    return cu.launchKernel(function, 4, 1, 1, threads, 1, 1, 0, queue, parameters, extra);
  };
  OK(launch(nullptr, extra));
  EXPECT_EQ(launch(parameters, extra), Answer::INVALID_VALUE);
  EXPECT_EQ(launch(nullptr, nullptr), Answer::INVALID_VALUE);
  bytes = 8;
  EXPECT_EQ(launch(nullptr, extra), Answer::INVALID_VALUE);
  add.value = 100; // taken at the call
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 5));
}

TEST_F(FakeLaunch, IsChecked) {
  Add add{};
  void *parameters[] = {&add};
  auto launch = [&](CUfunction function, unsigned grid, unsigned gridY, unsigned block,
                    CUstream stream) {
    return cu.launchKernel(function, grid, gridY, 1, block, 1, 1, 0, stream, parameters, nullptr);
  };
  EXPECT_EQ(launch(function, 0, 1, threads, queue), Answer::INVALID_VALUE);
  EXPECT_EQ(launch(function, 1u << 31, 1, threads, queue), Answer::INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, 2, threads, queue), Answer::INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, 1, 2048, queue), Answer::INVALID_VALUE);
  EXPECT_EQ(launch(nullptr, 1, 1, threads, queue), Answer::INVALID_HANDLE);
  EXPECT_EQ(fake.check(), nullptr);
  EXPECT_EQ(launch(function, 1, 1, 64, queue), Answer::INVALID_VALUE);
  EXPECT_EQ(violations(), "expected 32 threads for add, got 64");
  EXPECT_EQ(launch(find("orphan"), 1, 1, threads, queue), Answer::NOT_FOUND);
  EXPECT_EQ(violations(), "kernel orphan has no host twin; register one");
  CUcontext user = nullptr;
  OK(cu.ctxCreate(&user, 0, 0));
  EXPECT_EQ(launch(function, 1, 1, threads, nullptr), Answer::INVALID_HANDLE);
  EXPECT_EQ(launch(find("add"), 1, 1, threads, queue), Answer::INVALID_HANDLE);
}

TEST_F(FakeLaunch, OldDriversTakeFewBytes) {
  use({"add", threads, 5000, nullptr, runAdd});
  std::vector<uint8_t> bytes(5000);
  void *parameters[] = {bytes.data()};
  auto launch = [&] {
    return cu.launchKernel(function, 1, 1, 1, threads, 1, 1, 0, queue, parameters, nullptr);
  };
  OK(launch());
  fake.version(12000);
  EXPECT_EQ(launch(), Answer::INVALID_VALUE);
  EXPECT_EQ(violations(), "add takes more bytes than this driver passes on");
}

TEST_F(FakeLaunch, MayDoNothing) {
  fake.launch_nothing(1);
  OK(launch(queue));
  OK(cu.launchKernel(find("orphan"), 1, 1, 1, 999, 1, 1, 0, queue, nullptr, nullptr));
  EXPECT_EQ(counts().launches, 2u);
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 0));
}

TEST_F(FakeLaunch, GraphsKeepTheirParameters) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  size_t nodes = 0;
  OK(cu.streamBeginCapture(queue, CaptureMode::GLOBAL));
  OK(launch(queue, 2));
  OK(launch(queue, 30));
  OK(cu.streamEndCapture(queue, &graph));
  OK(cu.graphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
  EXPECT_EQ(counts().launches, 0u);
  OK(cu.graphInstantiate(&exec, graph, 0));
  OK(cu.graphLaunch(exec, queue));
  const CUstream other = stream();
  OK(cu.graphLaunch(exec, other)); // behind the first launch, though in another stream
  OK(cu.streamSynchronize(other));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 64));
  EXPECT_EQ(counts().launches, 4u);
}

TEST_F(FakeLaunch, LazyLoadingSpoilsACapture) {
  CUkernel kernel = nullptr;
  CUgraph graph = nullptr;
  CUlibrary second = nullptr;
  OK(cu.libraryLoadData(&second, cubin(90, {"add"}).data(), nullptr, nullptr, 0, nullptr, nullptr,
                        0));
  OK(cu.libraryGetKernel(&kernel, second, "add"));
  OK(cu.kernelGetFunction(&function, kernel));
  OK(cu.streamBeginCapture(queue, CaptureMode::GLOBAL));
  EXPECT_EQ(launch(queue), Answer::STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu.streamEndCapture(queue, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
  function = reinterpret_cast<CUfunction>(kernel); // CUDA takes this too
  OK(launch(queue));
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(numbers(), std::vector<uint32_t>(100, 1));
}

TEST_F(FakeLaunch, AFaultSticksToItsContext) {
  fake.fault_launch(2, Answer::ILLEGAL_ADDRESS);
  OK(launch(queue));
  OK(launch(queue)); // accepted: the device finds out later
  CUdeviceptr address = 0;
  EXPECT_EQ(cu.memAlloc(&address, 16), Answer::ILLEGAL_ADDRESS);
  EXPECT_EQ(launch(queue), Answer::ILLEGAL_ADDRESS);
  EXPECT_EQ(cu.streamSynchronize(queue), Answer::ILLEGAL_ADDRESS);
  EXPECT_EQ(cu.ctxSynchronize(), Answer::ILLEGAL_ADDRESS);
  EXPECT_EQ(cu.memFree(data), Answer::ILLEGAL_ADDRESS);
  CUcontext current = nullptr;
  OK(cu.ctxGetCurrent(&current));
  CUcontext user = nullptr;
  OK(cu.ctxCreate(&user, 0, 0)); // another context is sound
  allocate(16);
  OK(cu.ctxDestroy(user));
  fake.heal();
  OK(launch(queue));
}

TEST_F(FakeLaunch, AFaultyKernelIsTold) {
  use({"add", threads, sizeof(Add), nullptr, runFault});
  OK(launch(queue));
  EXPECT_EQ(cu.streamSynchronize(queue), Answer::LAUNCH_FAILED);
  EXPECT_EQ(cu.ctxSynchronize(), Answer::LAUNCH_FAILED);
  EXPECT_EQ(violations(), "add: block 3, thread 1: store of 16 bytes");
}

TEST_F(FakeLaunch, AnyCallCanFail) {
  ASSERT_EQ(fake.fail("cuLaunchKernel", 1, Answer::LAUNCH_OUT_OF_RESOURCES), 1);
  EXPECT_EQ(launch(queue), Answer::LAUNCH_OUT_OF_RESOURCES);
  OK(launch(queue)); // not sticky
}

TEST_F(FakeLaunch, EveryLaunchHasASeed) {
  std::vector<uint64_t> seeds, *place = &seeds;
  use({"add", threads, sizeof(Add), &place, keepSeed});
  fake.seed(41);
  for (int k = 0; k < 3; ++k)
    OK(launch(queue));
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(seeds, (std::vector<uint64_t>{41, 42, 43}));
}

TEST_F(FakeLaunch, TwinsHaveOneSymbol) {
  const fake_cuda_kernel same{"add", threads, sizeof(Add), nullptr, runAdd},
      other{"add", threads, sizeof(Add), nullptr, runFault};
  EXPECT_EQ(fake.register_kernel(&same), 1);
  EXPECT_EQ(fake.register_kernel(&other), 0);
}

TEST_F(FakeLaunch, UnloadingUnderALaunchIsAViolation) {
  OK(launch(queue));
  OK(cu.libraryUnload(library));
  EXPECT_EQ(cu.streamSynchronize(queue), Answer::ILLEGAL_ADDRESS);
  EXPECT_EQ(violations(), "a library is unloaded while launches of it are pending\n"
                          "kernel add runs after its library was unloaded");
}

} // namespace
} // namespace fw::driver
