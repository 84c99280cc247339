#include "runtime/scaling/PageLocked.h"

#include "runtime/driver/Scopes.h"

#include <cstring>

namespace fw::scaling {

namespace {
/// CU_MEMHOSTALLOC_PORTABLE: page-locked for every context.
constexpr unsigned portable = 1;
} // namespace

Result<PageLocked> PageLocked::allocate(const driver::Driver &driver, driver::CUcontext context,
                                        size_t bytes) {
  PageLocked memory;
  memory.driver = &driver;
  memory.context = context;
  driver::RelaxedCapture relaxed(driver);
  Result<void> allocated =
      driver::check(driver, driver.cu().memHostAlloc(&memory.place, bytes, portable),
                    "allocating page-locked memory of the host");
  if (!allocated)
    return allocated.takeError();
  memset(memory.place, 0, bytes);
  return memory;
}

PageLocked::~PageLocked() {
  if (!place || !driver->checkFork())
    return;
  auto entered = driver::CurrentContext::enter(*driver, context);
  if (!entered)
    return; // the context is gone, and its memory with it
  driver::RelaxedCapture relaxed(*driver);
  driver->cu().memFreeHost(place);
}

} // namespace fw::scaling
