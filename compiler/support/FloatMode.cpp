#include "compiler/support/FloatMode.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "expected x86-64 or aarch64: the word that holds the floating-point mode is not known here"
#endif

namespace fw {

namespace {

#if defined(__x86_64__)
constexpr uint64_t standard = 0x1f80; // MXCSR with all exceptions masked
uint64_t readMode() { return _mm_getcsr(); }
void writeMode(uint64_t mode) { _mm_setcsr(unsigned(mode)); }
#else
constexpr uint64_t standard = 0; // FPCR
uint64_t readMode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void writeMode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#endif

} // namespace

StandardFloatMode::StandardFloatMode() : before(readMode()) { writeMode(standard); }
StandardFloatMode::~StandardFloatMode() { writeMode(before); }

} // namespace fw
