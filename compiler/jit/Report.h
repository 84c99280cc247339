// What the room tells the host: notes and warnings, each cause once per process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fw::jit {

enum class Severity { Error, Warning, Info, Debug };

/// Called from any thread.
using LogSink = std::function<void(Severity, std::string_view text)>;

/// Writes "fusewright: warning: text" to stderr. `level` is the number of severities that pass,
/// which is what the knob `log` holds: 0 none, 1 errors, 2 warnings too ...
LogSink standardErrorSink(int level = 2);

/// The causes already told. Shared by all reporters of a process, so that two contexts do not
/// repeat a warning.
class Causes;
std::shared_ptr<Causes> processCauses();
std::shared_ptr<Causes> freshCauses();

class Reporter {
public:
  Reporter() : Reporter(standardErrorSink()) {}
  explicit Reporter(LogSink sink, std::shared_ptr<Causes> causes = processCauses());

  void say(Severity severity, std::string_view text) const;

  /// Says the text when `cause` is new in the process; `cause` names the kind of fault, not the
  /// file.
  void sayOnce(Severity severity, const std::string &cause, std::string_view text) const;

private:
  LogSink sink;
  std::shared_ptr<Causes> causes;
};

} // namespace fw::jit
