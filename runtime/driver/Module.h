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

  /// The kernel as a function of the current context, `context`, or null where it is not loaded
  /// there yet. No lock, no call of the driver.
  CUfunction find(CUcontext context) const;

  /// Loads it where it is not there yet. `loads` counts libraries made.
  Result<CUfunction> load(const Driver &driver, CUcontext context, std::atomic<uint64_t> &loads);

private:
  /// Functions found so far. Links are only ever put in front, so readers need no lock.
  struct Loaded {
    CUcontext context;
    CUfunction function;
    const Loaded *next;
  };
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
