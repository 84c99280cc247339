// The CUDA driver, opened at run time. No build and no machine needs it before the first use.
#pragma once

#include "compiler/support/Error.h"
#include "runtime/driver/Types.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fw::driver {

/// Every function of symbols.def.
struct Symbols {
#define FW_CUDA(member, symbol, arguments) CUresult(*member) arguments = nullptr;
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
};

struct Device {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  uint64_t memoryBytes = 0;
};

/// One per library file and process; never closed, since the driver must outlive what it runs.
/// Free-threaded.
class Driver {
public:
  /// `path` empty: what the loader finds as libcuda.so.1. DEVICE says what is missing; a failure is
  /// looked into again by the next call.
  static Result<const Driver *> open(const std::string &path);

  /// Calls go through here: `driver->cu().memAlloc(...)`.
  const Symbols &cu() const { return symbols; }

  int version() const { return driverVersion; } ///< 1000 * major + 10 * minor
  const std::string &path() const { return file; }
  const std::vector<Device> &devices() const { return found; }
  Result<const Device *> device(int ordinal) const;

  /// The primary context of a device, retained by its first use for the rest of the process.
  Result<CUcontext> primaryContext(int ordinal) const;

  /// DEVICE in a child of a process that had opened the driver: CUDA does not survive fork().
  Result<void> checkFork() const;

private:
  Driver() = default;
  Result<void> load(const std::string &path);
  Result<void> start();
  Result<Device> describe(int ordinal) const;

  Symbols symbols;
  std::string file;
  int driverVersion = 0;
  std::vector<Device> found;
  mutable std::mutex mutex;
  mutable std::vector<CUcontext> primaries; ///< by ordinal; null until retained
};

/// What a call of the driver answered, in words: "what: NAME (text)". OUT_OF_MEMORY stays that; a
/// fault of earlier work, which the driver reports from any later call, is told as such.
Error asError(const Driver &driver, CUresult result, std::string what);

/// Nothing, or the error of a call.
inline Result<void> check(const Driver &driver, CUresult result, const char *what) {
  if (result == Cu::SUCCESS)
    return {};
  return asError(driver, result, what);
}

} // namespace fw::driver
