// The floating-point mode of the calling thread.
#pragma once

#include <cstdint>

namespace fw {

/// While it lives, this thread rounds to nearest even, flushes no denormal and traps nothing;
/// afterwards the caller's mode is back. Frameworks set other modes, and the numbers that the
/// library computes must not depend on them. Both ends are calls that the compiler cannot see
/// into, so that no arithmetic is moved past them.
class StandardFloatMode {
public:
  StandardFloatMode();
  ~StandardFloatMode();
  StandardFloatMode(const StandardFloatMode &) = delete;
  StandardFloatMode &operator=(const StandardFloatMode &) = delete;

private:
  uint64_t before;
};

} // namespace fw
