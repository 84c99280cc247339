// The driver's types, as its binary interface has had them since CUDA 12. Our own declarations: a
// build needs no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fw::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;
using CUfunction = struct CUfunc_st *;

/// An attribute of a launch: its number, and a value of 64 bytes.
struct alignas(8) CUlaunchAttribute {
  int id;
  int reserved;
  int value;
  int more[15];
};
static_assert(sizeof(CUlaunchAttribute) == 72, "the driver reads arrays of these");

struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned attributeCount;
};

struct LaunchAttribute {
  static constexpr int PROGRAMMATIC_STREAM_SERIALIZATION = 6;
};

/// Results that we tell apart; everything else is named by cuGetErrorName.
struct Cu {
  static constexpr CUresult SUCCESS = 0;
  static constexpr CUresult OUT_OF_MEMORY = 2;
  static constexpr CUresult NO_DEVICE = 100;
  static constexpr CUresult INVALID_IMAGE = 200;
  static constexpr CUresult NO_BINARY_FOR_GPU = 209;
  static constexpr CUresult UNSUPPORTED_PTX_VERSION = 222;
  static constexpr CUresult INVALID_HANDLE = 400;
};

/// Attributes of devices and functions that we ask for.
struct Attribute {
  static constexpr int FUNCTION_REGISTERS = 4;
  static constexpr int MULTIPROCESSOR_COUNT = 16;
  static constexpr int COMPUTE_CAPABILITY_MAJOR = 75;
  static constexpr int COMPUTE_CAPABILITY_MINOR = 76;
};

struct Jit {
  static constexpr int ERROR_LOG_BUFFER = 5;
  static constexpr int ERROR_LOG_BUFFER_SIZE_BYTES = 6;
};

struct StreamFlag {
  static constexpr unsigned NON_BLOCKING = 1;
};

struct Capture {
  static constexpr int NONE = 0;
  static constexpr int MODE_RELAXED = 2;
};

} // namespace fw::driver
