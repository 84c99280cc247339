// The CPU through the C API, as any host program would use it.
#pragma once

#include "tools/verify/Verify.h"

struct fw_context;

namespace fw::verify {

/// Compiles and launches in `context`, which must outlive the backend. Memory around the tensors is
/// guarded: a kernel that writes there fails with CHECK_FAILED.
Backend cpuBackend(fw_context *context);

} // namespace fw::verify
