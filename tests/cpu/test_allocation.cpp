// Linking where the n-th allocation fails, for every n: the call says so, and the next one works.
#include "compiler/support/Error.h"
#include "tests/cpu/Harness.h"
#include "tests/support/FailingAllocation.h"

namespace fw::cpu::test {
namespace {

TEST(Allocation, linkingFailsAndWorksTheNextTime) {
  const std::string phases = program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {}, R"(
    %x = fuse.load "x" : f32
    fuse.store "y", %x : f32)");
  const std::string object = compileStage(phases, "object");
  Kernel first(phases); // what LLVM makes once for a process is there
  fw_cpu_kernel *kernel = nullptr;
  int failures = 0;
  for (int status = 1; status; ++failures) {
    untilFailure = failures;
    status = fw_cpu_link(object.data(), object.size(), "kernel", &kernel, nullptr);
    const bool failed = untilFailure < 0;
    untilFailure = -1;
    ASSERT_EQ(status, failed ? int(Code::OUT_OF_MEMORY) : 0) << "at allocation " << failures;
    ASSERT_EQ(kernel != nullptr, !failed);
  }
  EXPECT_GT(failures, 20);
  fw_cpu_kernel_destroy(kernel);
}

} // namespace
} // namespace fw::cpu::test
