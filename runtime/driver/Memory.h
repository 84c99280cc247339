// Device memory that ends with its owner.
#pragma once

#include "runtime/driver/Driver.h"

#include <functional>
#include <span>

namespace fw::driver {

/// Where device memory comes from: the host's callbacks, or the driver.
struct Allocator {
  std::function<void *(int device, size_t bytes)> allocate; ///< empty: cuMemAlloc
  std::function<void(int device, void *memory)> release;
};

/// A block of device memory, aligned to 256 bytes. Zero bytes are no block.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    DeviceMemory(std::move(other)).swap(*this);
    return *this;
  }
  ~DeviceMemory();

  /// In the context that is current; works while other threads capture.
  static Result<DeviceMemory> allocate(const Driver &driver, const Allocator &allocator, int device,
                                       size_t bytes);

  uint64_t address() const { return place; }
  size_t bytes() const { return size; }

private:
  void swap(DeviceMemory &other) noexcept;

  const Driver *driver = nullptr;
  const Allocator *allocator = nullptr;
  CUcontext context = nullptr;
  int device = 0;
  uint64_t place = 0;
  size_t size = 0;
};

/// Copies host bytes to memory that nothing uses yet, and returns when they are there. Works while
/// other streams are captured.
Result<void> uploadFresh(const Driver &driver, uint64_t to, std::span<const std::byte> bytes);

} // namespace fw::driver
