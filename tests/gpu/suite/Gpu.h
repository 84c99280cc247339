// Where the tests run: a CUDA driver with devices, the machine's or the fake one.
#pragma once

#include "tests/driver/fake/Control.h"
#include "tests/gpu/Cuda.h"
#include "tests/gpu/suite/Programs.h"
#include "tests/runtime/Api.h"

#include <functional>
#include <string>
#include <vector>

namespace suite {

/// The fake driver's controls, and host twins of the kernels that the suite runs.
struct Fake {
#define FAKE_CUDA(result, name, arguments) result(*name) arguments = nullptr;
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA
  const fake_cuda_kernel *(*findTwin)(const char *program, const char *target,
                                      size_t index) = nullptr;

  /// False where the driver is a real one.
  bool open(void *driver);
  /// Kernels that are loaded from now on run as the twins of this program for a target: symbols do
  /// not tell programs apart. A program may have none.
  void useTwins(const ProgramRow &row, const std::string &target) const;
};

/// One per process.
class Gpu {
public:
  static Gpu &get();

  std::string whyNot; ///< empty: tests can run
  bool isFake = false;
  Fake fake;
  api::Context context;             ///< shared by tests that count nothing
  std::vector<std::string> targets; ///< of every device
  std::vector<std::string> told;    ///< what the context has logged
  cuda::Handle primary = nullptr;   ///< context of device 0

private:
  Gpu();
};

/// True: fewer lists, for runs under a checker.
bool isQuick();

/// A context with a cache folder of its own, so that it finds nothing compiled.
class FreshContext {
public:
  FreshContext();
  ~FreshContext();
  operator fw_context *() const { return context.get(); }
  const std::string &folder() const { return path; }
  fw_counters counters() const { return countersOf(context.get()); }

  static fw_counters countersOf(fw_context *context);

private:
  std::string path;
  api::Context context;
};

/// Skips where there is no device, and asks the fake driver for violations after each test.
class GpuTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  fw_context *context() const { return gpu.context.get(); }
  Gpu &gpu = Gpu::get();
};

/// Also skips where the driver is a real one.
class FakeTest : public GpuTest {
protected:
  void SetUp() override;
  void TearDown() override;
  /// Makes the 1st, 2nd ... call of a driver's function fail until `work` does not meet one.
  /// After each failure `check` is called. The number of failures.
  int failEvery(const char *function, int result, fw_status expected,
                const std::function<fw_status()> &work, const std::function<void()> &check);
};

} // namespace suite
