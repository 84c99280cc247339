#include "compiler/jit/Report.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace fw::jit {

class Causes {
public:
  bool add(const std::string &cause) {
    std::lock_guard guard(mutex);
    return seen.insert(cause).second;
  }

private:
  std::mutex mutex;
  std::set<std::string> seen;
};

std::shared_ptr<Causes> freshCauses() { return std::make_shared<Causes>(); }

std::shared_ptr<Causes> processCauses() {
  static std::shared_ptr<Causes> causes = freshCauses();
  return causes;
}

LogSink standardErrorSink(int level) {
  return [level](Severity severity, std::string_view text) {
    if (int(severity) >= level)
      return;
    constexpr const char *names[] = {"error", "warning", "info", "debug"};
    // One call per line: lines of several threads do not mix.
    std::fprintf(stderr, "fusewright: %s: %.*s\n", names[int(severity)], int(text.size()),
                 text.data());
  };
}

Reporter::Reporter(LogSink sink, std::shared_ptr<Causes> causes)
    : sink(std::move(sink)), causes(std::move(causes)) {}

void Reporter::say(Severity severity, std::string_view text) const {
  if (sink)
    sink(severity, text);
}

void Reporter::sayOnce(Severity severity, const std::string &cause, std::string_view text) const {
  if (causes->add(cause))
    say(severity, text);
}

} // namespace fw::jit
