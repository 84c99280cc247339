#include "runtime/driver/Driver.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <map>
#include <pthread.h>

namespace fw::driver {
namespace {

/// What the symbols of symbols.def need.
constexpr int oldestVersion = 12000;

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::atomic<bool> forked = false;

/// The first driver that starts makes every later child of this process unfit for CUDA.
void watchForks() {
  [[maybe_unused]] static const int once =
      pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
}

struct SymbolRow {
  const char *name;
  void **place;
  bool isOptional;
};

/// The name of the first symbol that the library lacks, or null.
const char *resolve(void *library, Symbols &symbols) {
  const SymbolRow rows[] = {
#define FW_CUDA(member, symbol, arguments)                                                         \
  {#symbol, reinterpret_cast<void **>(&symbols.member), false},
#define FW_CUDA_OPTIONAL(member, symbol, arguments)                                                \
  {#symbol, reinterpret_cast<void **>(&symbols.member), true},
#include "runtime/driver/symbols.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
  };
  for (const SymbolRow &row : rows)
    if (!(*row.place = dlsym(library, row.name)) && !row.isOptional)
      return row.name;
  return nullptr;
}

std::string fileOf(void *symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

/// Faults of kernels: the driver keeps them and gives them to every later call.
bool isSticky(CUresult result) {
  constexpr CUresult kept[] = {700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::ranges::find(kept, result) != std::end(kept);
}

Error tooOld(const std::string &file, const std::string &got) {
  return {.code = Code::DEVICE,
          .text = "expected a CUDA driver of version " + versionText(oldestVersion) +
                  " or newer, got " + got + " (" + file + ")",
          .remedy = "update the NVIDIA driver to 525 or newer; the CPU backend works without"};
}

} // namespace

Result<const Driver *> Driver::open(const std::string &path) {
  static std::mutex mutex;
  static auto &drivers = *new std::map<std::string, std::unique_ptr<Driver>>; // never destroyed
  std::lock_guard lock(mutex);
  std::unique_ptr<Driver> &known = drivers[path];
  if (!known) {
    std::unique_ptr<Driver> driver(new Driver);
    if (Result<void> loaded = driver->load(path); !loaded)
      return loaded.takeError();
    if (Result<void> started = driver->start(); !started)
      return started.takeError();
    known = std::move(driver);
  }
  if (Result<void> usable = known->checkFork(); !usable)
    return usable.takeError();
  return known.get();
}

Result<void> Driver::load(const std::string &path) {
  const std::string name = path.empty() ? "libcuda.so.1" : path;
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *cause = dlerror();
    return Error{.code = Code::DEVICE,
                 .text = "expected the CUDA driver (" + name + "), got none that opens",
                 .remedy = path.empty()
                               ? "install the NVIDIA driver, or in a container start it with the "
                                 "GPU's libraries; the CPU backend works without"
                               : "point FUSEWRIGHT_CUDA_DRIVER at a libcuda.so.1, or unset it",
                 .log = cause ? cause : ""};
  }
  file = name;
  const char *missing = resolve(library, symbols);
  if (symbols.init)
    if (std::string real = fileOf(reinterpret_cast<void *>(symbols.init)); !real.empty())
      file = real;
  // An old driver lacks the newer functions, so its version is the better thing to tell.
  if (symbols.driverGetVersion && symbols.driverGetVersion(&driverVersion) == Cu::SUCCESS &&
      driverVersion < oldestVersion)
    return tooOld(file, "version " + versionText(driverVersion));
  if (missing)
    return tooOld(file, std::string("one without ") + missing);
  return {};
}

Result<void> Driver::start() {
  CUresult result = symbols.init(0);
  if (result == Cu::NO_DEVICE)
    return Error{.code = Code::DEVICE,
                 .text = "expected a CUDA device, got a driver (" + versionText(driverVersion) +
                         ") that sees none",
                 .remedy = "check nvidia-smi and CUDA_VISIBLE_DEVICES; the CPU backend works "
                           "without"};
  if (result != Cu::SUCCESS)
    return asError(*this, result, "the start of the CUDA driver");
  watchForks();
  int count = 0;
  if (Result<void> counted = check(*this, symbols.deviceGetCount(&count), "the count of devices");
      !counted)
    return counted;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Result<Device> device = describe(ordinal);
    if (!device)
      return device.takeError();
    found.push_back(std::move(*device));
  }
  primaries.resize(found.size());
  return {};
}

Result<Device> Driver::describe(int ordinal) const {
  Device device{.ordinal = ordinal};
  CUdevice handle = 0;
  char name[256] = "";
  size_t bytes = 0;
  CUresult result = symbols.deviceGet(&handle, ordinal);
  auto then = [&](CUresult next) { result = result == Cu::SUCCESS ? next : result; };
  then(symbols.deviceGetName(name, sizeof name, handle));
  then(symbols.deviceTotalMem(&bytes, handle));
  then(symbols.deviceGetAttribute(&device.major, Attribute::COMPUTE_CAPABILITY_MAJOR, handle));
  then(symbols.deviceGetAttribute(&device.minor, Attribute::COMPUTE_CAPABILITY_MINOR, handle));
  then(
      symbols.deviceGetAttribute(&device.multiprocessors, Attribute::MULTIPROCESSOR_COUNT, handle));
  if (result != Cu::SUCCESS)
    return asError(*this, result, "the description of device " + std::to_string(ordinal));
  device.name = name;
  device.memoryBytes = bytes;
  return device;
}

Result<const Device *> Driver::device(int ordinal) const {
  if (ordinal < 0 || size_t(ordinal) >= found.size())
    return Error{Code::DEVICE,
                 "expected a CUDA device below " + std::to_string(found.size()) + ", got device " +
                     std::to_string(ordinal),
                 "devices count from 0 in the order of CUDA_VISIBLE_DEVICES"};
  return &found[size_t(ordinal)];
}

Result<CUcontext> Driver::primaryContext(int ordinal) const {
  if (Result<const Device *> known = device(ordinal); !known)
    return known.takeError();
  std::lock_guard lock(mutex);
  CUcontext &context = primaries[size_t(ordinal)];
  if (!context) {
    CUdevice handle = 0;
    CUresult result = symbols.deviceGet(&handle, ordinal);
    if (result == Cu::SUCCESS)
      result = symbols.primaryCtxRetain(&context, handle);
    if (result != Cu::SUCCESS)
      return asError(*this, result, "the primary context of device " + std::to_string(ordinal));
  }
  return context;
}

Result<void> Driver::checkFork() const {
  if (!forked.load(std::memory_order_relaxed))
    return {};
  return Error{Code::DEVICE,
               "expected the process that opened the CUDA driver, got a child of its fork()",
               "start workers with spawn or forkserver, or fork before the first use of CUDA"};
}

Error asError(const Driver &driver, CUresult result, std::string what) {
  const char *name = nullptr, *text = nullptr;
  driver.cu().getErrorName(result, &name);
  driver.cu().getErrorString(result, &text);
  std::string answer = name ? std::string(name) + (text ? std::string(" (") + text + ")" : "")
                            : "CUDA error " + std::to_string(result);
  if (result == Cu::OUT_OF_MEMORY)
    return {.code = Code::OUT_OF_MEMORY,
            .text = what + ": expected device memory, got " + answer,
            .remedy = "free device memory or work on smaller lists; nothing was changed"};
  if (isSticky(result))
    return {.code = Code::DEVICE,
            .text = what + ": expected a healthy device, got " + answer + " of earlier work",
            .remedy = "an earlier kernel, of any library, failed; run under compute-sanitizer to "
                      "find it, and start a new process"};
  return {.code = Code::DEVICE,
          .text = what + ": expected success, got " + answer,
          .remedy = "check that stream, addresses and device belong together"};
}

} // namespace fw::driver
