#include "runtime/plan/DeviceTable.h"

#include <algorithm>

namespace fw::plan {

Result<DeviceTable> DeviceTable::make(const DeviceWorld &world, size_t capacity) {
  DeviceTable table;
  if (Result<void> made = table.renew(world, capacity); !made)
    return made.takeError();
  return table;
}

Result<void> DeviceTable::renew(const DeviceWorld &world, size_t bytes,
                                std::span<const std::byte> initial) {
  auto fresh = driver::DeviceMemory::allocate(*world.driver, *world.allocator, world.device, bytes);
  if (!fresh)
    return fresh.takeError();
  if (auto sent = driver::uploadFresh(*world.driver, fresh->address(), initial); !sent)
    return sent;
  if (memory.address())
    retired.push_back(std::move(memory));
  memory = std::move(*fresh);
  capacity = bytes;
  frozen = used = false;
  return {};
}

Result<void> DeviceTable::renewFrozen(const DeviceWorld &world,
                                      std::span<const std::byte> initial) {
  return frozen ? renew(world, capacity, initial) : Result<void>();
}

Result<void> DeviceTable::update(const DeviceWorld &world, std::span<const std::byte> bytes,
                                 driver::CUstream stream, bool capturing) {
  if (bytes.empty())
    return {};
  if (bytes.size() > capacity || frozen || (capturing && used))
    if (Result<void> renewed = renew(world, std::max(capacity, bytes.size())); !renewed)
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

Result<MirroredTable> MirroredTable::make(const DeviceWorld &world, size_t capacity,
                                          bool isWritten) {
  auto table = DeviceTable::make(world, capacity);
  if (!table)
    return table.takeError();
  MirroredTable made;
  made.table = std::move(*table);
  made.isWritten = isWritten;
  return made;
}

Result<void> MirroredTable::update(const DeviceWorld &world, std::span<const std::byte> bytes,
                                   driver::CUstream stream, bool capturing) {
  if (std::ranges::equal(bytes, held) && !(isWritten && table.isFrozen()))
    return {};
  held.clear(); // what the device has is unknown if the copy fails
  if (auto updated = table.update(world, bytes, stream, capturing); !updated)
    return updated;
  held.assign(bytes.begin(), bytes.end());
  return {};
}

size_t DeviceTable::workspaceBytes() const {
  size_t bytes = memory.bytes();
  for (const driver::DeviceMemory &old : retired)
    bytes += old.bytes();
  return bytes;
}

} // namespace fw::plan
