// A progress bar on stderr, where somebody looks at it.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace fw::cli {

/// Shows nothing unless stderr is a terminal. Used by any number of threads.
class Progress {
public:
  Progress(std::string what, size_t total);
  ~Progress();
  void step(const std::string &name);

private:
  std::string what;
  size_t total, done = 0;
  bool visible;
  std::mutex mutex;
};

} // namespace fw::cli
