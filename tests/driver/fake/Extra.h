// Types and numbers of the driver that only test programs need.
#pragma once

#include "runtime/driver/Types.h"

namespace fw::driver {

using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUhostFn = void (*)(void *data);

/// Every result that the fake knows, by name.
struct Answer {
#define FAKE_ERROR(number, name, text) static constexpr CUresult name = number;
#include "tests/driver/fake/errors.def"
#undef FAKE_ERROR
};

struct CaptureMode {
  static constexpr int GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2;
};

struct CaptureStatus {
  static constexpr int NONE = 0, ACTIVE = 1, INVALIDATED = 2;
};

struct EventFlag {
  static constexpr unsigned BLOCKING_SYNC = 1, DISABLE_TIMING = 2;
};

/// Words of cuLaunchKernel's `extra`.
struct LaunchWord {
  static constexpr uintptr_t END = 0, POINTER = 1, SIZE = 2;
};

struct PointerAttribute {
  static constexpr int CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4,
                       DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12;
};

struct MemoryType {
  static constexpr unsigned HOST = 1, DEVICE = 2;
};

/// Handles that name a stream instead of being one.
inline CUstream legacyStream() { return reinterpret_cast<CUstream>(uintptr_t{1}); }
inline CUstream perThreadStream() { return reinterpret_cast<CUstream>(uintptr_t{2}); }

} // namespace fw::driver
