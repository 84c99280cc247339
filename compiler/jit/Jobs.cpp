#include "compiler/jit/Jobs.h"

#include "compiler/support/Threads.h"

#include <mutex>

namespace fw::jit {

void runJobs(size_t count, unsigned threads, const std::function<void(size_t)> &job,
             const std::function<void(size_t)> &finished) {
  std::mutex mutex;
  Threads(threads).parallelFor(count, [&](size_t i) {
    job(i);
    if (finished) {
      std::lock_guard guard(mutex);
      finished(i);
    }
  });
}

} // namespace fw::jit
