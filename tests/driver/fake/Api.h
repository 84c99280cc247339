// Declares what the library exports, and numbers it.
#pragma once

#include "tests/driver/fake/Extra.h"

namespace fw::driver::fake {

enum class Function : int {
#define FW_CUDA(member, symbol, arguments) symbol,
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
  COUNT
};

#define FW_CUDA(member, symbol, arguments)                                                         \
  extern "C" __attribute__((visibility("default"))) CUresult symbol arguments;
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL

} // namespace fw::driver::fake
