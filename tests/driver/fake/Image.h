// Machine code (an ELF file for CUDA) and PTX, as far as loading them goes.
#pragma once

#include "runtime/driver/Types.h"

#include <set>
#include <string>

namespace fw::driver::fake {

struct Image {
  bool isText = false;  ///< PTX
  int arch = 0;         ///< 90: sm_90
  bool isExact = false; ///< PTX for one arch alone (sm_90a)
  std::set<std::string> kernels;

  bool runsOn(int capability) const;
};

/// Fills `image`, or answers an error and says why in `log`.
CUresult readImage(const void *code, int driverVersion, Image &image, std::string &log);

} // namespace fw::driver::fake
