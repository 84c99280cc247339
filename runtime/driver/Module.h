// Machine code loaded into the driver.
#pragma once

#include "runtime/driver/Driver.h"

#include <atomic>
#include <string>
#include <string_view>

namespace fw::driver {

/// One kernel of one image. The driver's library is made by the first load and serves every
/// context. Free-threaded; it must outlive its launches.
class Module {
public:
  /// `image`, a cubin or PTX text with a zero behind it, must outlive the module.
  Module(std::string_view image, std::string symbol) : image(image), symbol(std::move(symbol)) {}
  Module(const Module &) = delete;
  ~Module();

  /// The kernel as a function of the current context; null where it is not loaded there yet, or
  /// where that is not of device `ordinal`. No lock, one short call of the driver.
  CUfunction find(const Driver &driver, int ordinal) const;

  /// Loads it where it is not there yet. `loads` counts libraries made.
  Result<CUfunction> load(const Driver &driver, std::atomic<uint64_t> &loads);

private:
  /// No other context of the process, past or future, has the same; a new one may well have the
  /// address of one that is gone.
  using ContextId = unsigned long long;

  /// Functions found so far. Links are only ever put in front, so readers need no lock.
  struct Loaded {
    ContextId context;
    CUdevice device;
    CUfunction function;
    const Loaded *next;
  };
  const Loaded *find(ContextId context) const;
  Result<void> loadLibrary(const Driver &driver);

  std::string_view image;
  std::string symbol;
  std::mutex mutex; ///< held while loading
  const Driver *driver = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  std::atomic<const Loaded *> loaded = nullptr;
};

} // namespace fw::driver
