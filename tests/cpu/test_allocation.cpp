// Linking where the n-th allocation fails, for every n: the call says so, and the next one works.
#include "compiler/support/Error.h"
#include "tests/cpu/Harness.h"

#include <cstdlib>
#include <new>

namespace {
/// Allocations of this thread until one fails; negative: none does.
thread_local long untilFailure = -1;

void *allocate(size_t size) {
  if (untilFailure >= 0 && untilFailure-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
} // namespace

void *operator new(size_t size) { return allocate(size); }
void *operator new[](size_t size) { return allocate(size); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

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
