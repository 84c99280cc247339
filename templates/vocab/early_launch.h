// Programmatic launches: a kernel may start while the one before it in its stream is still running.
// Until it has waited, it reads nothing that kernels before it write.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

#if defined(__CUDACC__) && FW_HAS_EARLY_LAUNCH
/// Lets the next kernel of the stream start as soon as every block has come here or has ended. Does
/// nothing where that kernel was launched to wait for this one.
FW_INLINE void letNextStart() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/// Behind it, the kernels before have ended and what they wrote is seen.
FW_INLINE void waitForPrevious() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
// The emulator runs one kernel behind the other.
FW_INLINE void letNextStart() {}
FW_INLINE void waitForPrevious() {}
#endif

} // namespace fw
