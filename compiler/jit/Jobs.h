// Many compiles at once, for precompile.
#pragma once

#include <cstddef>
#include <functional>

namespace fw::jit {

/// Runs job(0) .. job(count - 1), each once, on at most `threads` threads (0: usableThreads()).
/// `finished` is called after each job, one call at a time. A job must not throw.
void runJobs(size_t count, unsigned threads, const std::function<void(size_t)> &job,
             const std::function<void(size_t)> &finished = {});

} // namespace fw::jit
