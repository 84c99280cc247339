// CUDA's execution model on the host: runs the unchanged text of an emitted kernel.
//
// Each CUDA thread is a fiber. A fiber runs until it waits (barrier, warp operation) or ends; then
// the scheduler picks the next. Blocks are objects, `resident` of them at a time, started in seeded
// order. All of it happens in the calling thread.
//
// A test includes KernelText.h, then the emitted text, then calls emulate(kernel, ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fw::emulator {

struct Launch {
  unsigned grid = 1, threads = 1;
  uint64_t seed = 1; ///< order of blocks, of warps in a block, and of turns among resident blocks
  unsigned resident = 2; ///< blocks that exist at the same time
};

/// Runs `kernel` once per thread of the grid. What went wrong: nothing, or one sentence that names
/// block and thread; the launch stops at the first fault.
std::optional<std::string> run(const Launch &launch, const std::function<void()> &kernel);

/// The same for a kernel function and its arguments.
template <class... P, class... A>
std::optional<std::string> emulate(const Launch &launch, void (*kernel)(P...), A... arguments) {
  return run(launch, [&] { kernel(static_cast<P>(arguments)...); });
}

} // namespace fw::emulator
