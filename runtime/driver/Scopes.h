// What a stretch of code changes in the calling thread and puts back.
#pragma once

#include "runtime/driver/Driver.h"

namespace fw::driver {

/// A context is current while this lives.
class CurrentContext {
public:
  /// The caller's own current context where it is of device `ordinal`, so that the caller's streams
  /// belong to it; else the device's primary one.
  static Result<CurrentContext> ofDevice(const Driver &driver, int ordinal);
  /// That of the stream, for work that is queued on it: DEVICE where it is of another device than
  /// `ordinal`. For the legacy default stream `ofDevice`.
  static Result<CurrentContext> ofStream(const Driver &driver, CUstream stream, int ordinal);
  static Result<CurrentContext> enter(const Driver &driver, CUcontext context);

  CurrentContext(CurrentContext &&other) noexcept
      : driver(other.driver), context(other.context), pushed(std::exchange(other.pushed, false)) {}
  CurrentContext &operator=(CurrentContext &&) = delete;
  ~CurrentContext();

  CUcontext get() const { return context; }

private:
  CurrentContext(const Driver &driver, CUcontext context, bool pushed)
      : driver(driver), context(context), pushed(pushed) {}

  const Driver &driver;
  CUcontext context;
  bool pushed;
};

/// Calls that a capture elsewhere in the thread or process would forbid are allowed while this
/// lives; they must not touch the capturing stream.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) {
    driver.cu().threadExchangeCaptureMode(&mode);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  ~RelaxedCapture() { driver.cu().threadExchangeCaptureMode(&mode); }

private:
  const Driver &driver;
  int mode = Capture::MODE_RELAXED;
};

/// True while `stream` is being captured. The legacy default stream never is.
Result<bool> isCapturing(const Driver &driver, CUstream stream);

} // namespace fw::driver
