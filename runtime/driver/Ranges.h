// Named ranges for profilers (NVTX), around calls of the library.
#pragma once

#include <string_view>

namespace fw::driver {

/// False in a build without the headers of NVTX; `doctor` tells.
bool hasRanges();

/// "fw_plan_run adamw" in the profiler's timeline while this lives. Where no profiler has put
/// itself into the process, that is one comparison.
class Range {
public:
  Range(std::string_view call, std::string_view op);
  ~Range();
  Range(const Range &) = delete;

private:
  bool isOpen = false;
};

} // namespace fw::driver
