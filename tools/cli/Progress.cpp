#include "tools/cli/Progress.h"

#include <cstdio>
#include <unistd.h>

namespace fw::cli {

Progress::Progress(std::string what, size_t total)
    : what(std::move(what)), total(total), visible(isatty(2)) {}

Progress::~Progress() {
  if (visible && done > 0)
    std::fputs("\r\033[K", stderr);
}

void Progress::step(const std::string &name) {
  std::lock_guard lock(mutex);
  ++done;
  if (!visible)
    return;
  constexpr int width = 30;
  int filled = int(width * done / total);
  std::fprintf(stderr, "\r\033[K%s [%s%s] %zu/%zu %s", what.c_str(),
               std::string(filled, '=').c_str(), std::string(width - filled, ' ').c_str(), done,
               total, name.c_str());
  std::fflush(stderr);
}

} // namespace fw::cli
