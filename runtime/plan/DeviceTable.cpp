#include "runtime/plan/DeviceTable.h"

#include <algorithm>

namespace fw::plan {

Result<DeviceTable> DeviceTable::make(const DeviceWorld &world, size_t capacity) {
  DeviceTable table;
  table.capacity = capacity;
  if (Result<void> made = table.renew(world); !made)
    return made.takeError();
  return table;
}

Result<void> DeviceTable::renew(const DeviceWorld &world) {
  auto fresh =
      driver::DeviceMemory::allocate(*world.driver, *world.allocator, world.device, capacity);
  if (!fresh)
    return fresh.takeError();
  if (memory.address())
    retired.push_back(std::move(memory));
  memory = std::move(*fresh);
  frozen = used = false;
  return {};
}

Result<void> DeviceTable::update(const DeviceWorld &world, std::span<const std::byte> bytes,
                                 driver::CUstream stream, bool capturing) {
  if (bytes.empty())
    return {};
  if (frozen || (capturing && used))
    if (Result<void> renewed = renew(world); !renewed)
      return renewed;
  ++*world.uploads;
  const bool isFresh = !used;
  used = true;
  if (isFresh)
    return driver::uploadFresh(*world.driver, memory.address(), bytes);
  // Pageable copies of this size travel in the command stream: the host's bytes may change at once
  // and nothing waits. Longer ones would wait for the work before them.
  constexpr size_t piece = 64 << 10;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    size_t count = std::min(piece, bytes.size() - at);
    driver::CUresult result =
        world.driver->cu().memcpyHtoDAsync(memory.address() + at, bytes.data() + at, count, stream);
    if (result != driver::Cu::SUCCESS)
      return driver::asError(*world.driver, result, "copying a table to the device");
  }
  return {};
}

size_t DeviceTable::workspaceBytes() const {
  size_t bytes = memory.bytes();
  for (const driver::DeviceMemory &old : retired)
    bytes += old.bytes();
  return bytes;
}

} // namespace fw::plan
