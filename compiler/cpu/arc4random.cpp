// LLVM seeds its unique file names with arc4random where the C library that it was built with has
// it (GLIBC 2.36). This library runs from GLIBC 2.34 on, so it brings its own.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random(void) noexcept {
  uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    std::abort(); // cannot happen: the kernel promises small requests in full
  return value;
}
