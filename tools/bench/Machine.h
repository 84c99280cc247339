// What plans and launches are timed on.
#pragma once

#include "fusewright/fusewright.h"
#include "tools/host/Program.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fw::bench {

/// The bytes of one operand over a whole list.
struct Stream {
  uint64_t bytes = 0;
  bool isRead = false, isWritten = false;
};

/// Microseconds are medians.
struct Figures {
  double us = 0;                   ///< of the device alone: its queue is ahead of the host
  std::optional<double> graphUs;   ///< the same as a replay of a captured graph
  std::optional<double> idleUs;    ///< from an idle device, so with what the host takes
  double hostUs = 0;               ///< of the call, with an empty queue
  std::string yardstick;           ///< "copy"; "read" of what writes nothing; on the CPU "stream"
  std::string yardstickText;       ///< how the fastest read was made; empty for the others
  double yardstickRate = 0;        ///< bytes/us of the yardstick over as many bytes
  std::optional<double> largeRate; ///< of copy(4 GiB), beside "copy"
};

/// Something to be timed: a run of a plan, or a launch.
using Work = std::function<Result<void>()>;

class Machine {
public:
  virtual ~Machine() = default;

  virtual std::string description() const = 0;
  /// "copy", or "stream" of the CPU: that of programs that write.
  virtual std::string yardstick() const = 0;
  virtual fw_stream stream() const = 0;
  /// Memory for the operands of a case; the same for every case. Called once.
  virtual Result<std::byte *> reserve(size_t bytes) = 0;
  /// Repeats `pattern` in the memory that was reserved.
  virtual Result<void> fill(std::byte *to, size_t bytes, std::span<const std::byte> pattern) = 0;
  /// What the memory that was reserved holds, once all work is done.
  virtual Result<void> fetch(const std::byte *from, std::span<std::byte> to) = 0;
  virtual Result<Figures> measure(const Work &work, std::span<const Stream> streams,
                                  int rounds) = 0;
};

Result<std::unique_ptr<Machine>> makeCpuMachine(fw_context *context);
Result<std::unique_ptr<Machine>> makeCudaMachine(fw_context *context, const host::Device &device);

/// The middle one.
double median(std::vector<double> values);

} // namespace fw::bench
