// The floating-point modes in which hosts call the library, for tests.
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace fw::test {

inline bool sameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

#if defined(__x86_64__)
inline uint64_t floatMode() { return _mm_getcsr(); }
inline void setFloatMode(uint64_t mode) { _mm_setcsr(unsigned(mode)); }
constexpr std::pair<const char *, uint64_t> callersModes[] = {
    {"flush results to zero", 0x8000}, {"denormals are zero", 0x40}, {"round upward", 0x4000}};
#else
inline uint64_t floatMode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void setFloatMode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
constexpr std::pair<const char *, uint64_t> callersModes[] = {
    {"flush denormals to zero", uint64_t(1) << 24}, {"round upward", uint64_t(1) << 22}};
#endif

/// Adds bits to the thread's mode while it lives.
class CallersMode {
public:
  explicit CallersMode(uint64_t bits) : before(floatMode()) { setFloatMode(before | bits); }
  ~CallersMode() { setFloatMode(before); }

private:
  uint64_t before;
};

} // namespace fw::test
