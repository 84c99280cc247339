#include "runtime/driver/Memory.h"

#include "runtime/driver/Scopes.h"

#include <utility>

namespace fw::driver {

Result<DeviceMemory> DeviceMemory::allocate(const Driver &driver, const Allocator &allocator,
                                            int device, size_t bytes) {
  DeviceMemory memory;
  memory.driver = &driver;
  memory.allocator = &allocator;
  memory.device = device;
  if (bytes == 0)
    return memory;
  if (CUresult result = driver.cu().ctxGetCurrent(&memory.context); result != Cu::SUCCESS)
    return asError(driver, result, "asking for the current context");
  RelaxedCapture relaxed(driver);
  const std::string what = "allocating " + std::to_string(bytes) + " bytes";
  if (allocator.allocate) {
    memory.place = reinterpret_cast<uint64_t>(allocator.allocate(device, bytes));
    if (!memory.place)
      return Error{Code::OUT_OF_MEMORY, what + ": expected memory of device_allocate, got NULL",
                   "free device memory or work on smaller lists; nothing was changed"};
  } else if (CUresult result = driver.cu().memAlloc(&memory.place, bytes); result != Cu::SUCCESS) {
    return asError(driver, result, what);
  }
  memory.size = bytes;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (!place || !driver->checkFork())
    return;
  auto entered = CurrentContext::enter(*driver, context);
  if (!entered)
    return; // the context is gone, and its memory with it
  RelaxedCapture relaxed(*driver);
  if (allocator->release)
    allocator->release(device, reinterpret_cast<void *>(place));
  else
    driver->cu().memFree(place);
}

void DeviceMemory::swap(DeviceMemory &other) noexcept {
  std::swap(driver, other.driver);
  std::swap(allocator, other.allocator);
  std::swap(context, other.context);
  std::swap(device, other.device);
  std::swap(place, other.place);
  std::swap(size, other.size);
}

Result<void> uploadFresh(const Driver &driver, uint64_t to, std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  // A stream of our own: the legacy one would wait for, and disturb, the caller's.
  RelaxedCapture relaxed(driver);
  CUstream stream = nullptr;
  if (CUresult result = driver.cu().streamCreate(&stream, StreamFlag::NON_BLOCKING);
      result != Cu::SUCCESS)
    return asError(driver, result, "making a stream for a table");
  CUresult result = driver.cu().memcpyHtoDAsync(to, bytes.data(), bytes.size(), stream);
  if (result == Cu::SUCCESS)
    result = driver.cu().streamSynchronize(stream);
  driver.cu().streamDestroy(stream);
  return check(driver, result, "copying a table to the device");
}

} // namespace fw::driver
