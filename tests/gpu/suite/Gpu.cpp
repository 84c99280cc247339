#include "tests/gpu/suite/Gpu.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace suite {

bool isQuick() {
  const char *set = std::getenv("FW_GPU_QUICK");
  return set && *set && *set != '0';
}

// --- The fake driver -----------------------------------------------------------------------------

bool Fake::open(void *driver) {
#define FAKE_CUDA(result, name, arguments)                                                         \
  if (!(name = reinterpret_cast<result(*) arguments>(dlsym(driver, "fake_cuda_" #name))))          \
    return false;
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA
  const char *path = std::getenv("FW_GPU_TWINS");
  void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
  if (path && library)
    findTwin = reinterpret_cast<decltype(findTwin)>(dlsym(library, "fw_gpu_twin"));
  if (!findTwin) {
    std::fprintf(stderr,
                 "expected FW_GPU_TWINS, the library of kernels for the fake driver, got %s\n",
                 path ? dlerror() : "nothing");
    std::exit(1);
  }
  return true;
}

void Fake::useTwins(const ProgramRow &row, const std::string &target) const {
  forget_kernels();
  // PTX of a virtual arch is the same text as for the real one.
  std::string real = target;
  if (real.starts_with("compute_"))
    real = "sm_" + real.substr(real.find('_') + 1);
  for (const std::string &name : {row.name(), std::string("fw_scalars")})
    for (size_t k = 0; const fake_cuda_kernel *twin = findTwin(name.c_str(), real.c_str(), k); ++k)
      EXPECT_TRUE(register_kernel(twin));
}

// --- The process's devices -----------------------------------------------------------------------

Gpu &Gpu::get() {
  static auto &gpu = *new Gpu; // ends with the process, as the driver does
  return gpu;
}

namespace {

/// Why requests for this target cannot be compiled; empty: they can.
std::string compilerFault(fw_context *context, const std::string &target) {
  fw_op *op = nullptr;
  fw_request *request = nullptr;
  fw_program *program = nullptr;
  fw_status status = fw_op_find(context, "scale", &op);
  if (status == FW_OK)
    status = fw_request_create(op, &request);
  if (status == FW_OK)
    status = fw_request_target(request, target.c_str());
  if (status == FW_OK)
    status = fw_compile(context, request, &program);
  std::string fault = status == FW_OK ? "" : api::lastError();
  fw_program_destroy(program);
  fw_request_destroy(request);
  fw_op_destroy(op);
  return fault;
}

void keepMessage(void *to, fw_log_level, const char *message) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  static_cast<std::vector<std::string> *>(to)->push_back(message);
}

} // namespace

Gpu::Gpu() {
  if (std::string missing = cuda::api().open(); !missing.empty()) {
    whyNot = "needs a CUDA driver: " + missing;
    return;
  }
  isFake = fake.open(cuda::api().library);
  fw_context_options options;
  fw_context_options_init(&options);
  options.user_data = &told;
  options.log = keepMessage;
  context =
      api::make<api::Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  int32_t count = 0;
  if (fw_context_device_count(context.get(), &count) != FW_OK) {
    whyNot = "needs a GPU: " + api::lastError();
    return;
  }
  for (int32_t device = 0; device < count; ++device) {
    fw_device_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_context_device(context.get(), device, &info), FW_OK) << api::lastError();
    targets.push_back(info.target);
  }
  if (std::string fault = compilerFault(context.get(), targets[0]); !fault.empty()) {
    whyNot = "needs NVRTC: " + fault;
    return;
  }
  int device = 0;
  EXPECT_CUDA(cuInit(0));
  EXPECT_CUDA(cuDeviceGet(&device, 0));
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&primary, device));
}

// --- Contexts ------------------------------------------------------------------------------------

namespace {

std::string temporaryFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "fusewright-suite-XXXXXX").string();
  return mkdtemp(pattern.data()) ? pattern : "";
}

} // namespace

FreshContext::FreshContext() : path(temporaryFolder()), context(api::context(path.c_str())) {}

FreshContext::~FreshContext() {
  context.reset();
  std::filesystem::remove_all(path);
}

fw_counters FreshContext::countersOf(fw_context *context) {
  fw_counters counters = {};
  counters.struct_size = sizeof counters;
  EXPECT_EQ(fw_context_counters(context, &counters), FW_OK) << api::lastError();
  return counters;
}

// --- Fixtures ------------------------------------------------------------------------------------

void GpuTest::SetUp() {
  if (!gpu.whyNot.empty())
    GTEST_SKIP() << gpu.whyNot;
  EXPECT_CUDA(cuCtxSetCurrent(gpu.primary));
}

void GpuTest::TearDown() {
  if (!gpu.whyNot.empty())
    return;
  EXPECT_CUDA(cuCtxSynchronize());
  if (gpu.isFake) {
    const char *violations = gpu.fake.check();
    EXPECT_EQ(violations, nullptr) << violations;
    gpu.fake.heal();
  }
}

void FakeTest::SetUp() {
  GpuTest::SetUp();
  if (!IsSkipped() && !gpu.isFake)
    GTEST_SKIP() << "needs the fake driver: a real one cannot be told to fail";
}

void FakeTest::TearDown() { GpuTest::TearDown(); }

int FakeTest::failEvery(const char *function, int result, fw_status expected,
                        const std::function<fw_status()> &work,
                        const std::function<void()> &check) {
  for (int nth = 1;; ++nth) {
    EXPECT_TRUE(gpu.fake.fail(function, unsigned(nth), result)) << function;
    const fw_status status = work();
    gpu.fake.heal();
    if (status == FW_OK)
      return nth - 1;
    EXPECT_EQ(status, expected) << function << " " << nth << ": " << api::lastError();
    check();
    if (nth == 100)
      return nth;
  }
}

} // namespace suite
