// A table in device memory that the host rewrites now and then.
#pragma once

#include "runtime/driver/Memory.h"
#include "runtime/driver/Module.h"

#include <atomic>
#include <functional>
#include <span>
#include <vector>

namespace fw::plan {

/// Where and how a plan's memory is had.
struct DeviceWorld {
  const driver::Driver *driver = nullptr;
  driver::CUcontext context = nullptr;
  int device = 0;
  const driver::Allocator *allocator = nullptr;
  std::atomic<uint64_t> *uploads = nullptr, *modules = nullptr, *launches = nullptr; ///< counters
  /// The kernel `fw_scalars` for the device's target.
  std::function<Result<driver::Module *>()> scalarsModule;
};

/// `target = make(...)`, for members.
template <class Table, class... Arguments>
Result<void> remake(Table &target, const DeviceWorld &world, Arguments... arguments) {
  auto made = Table::make(world, arguments...);
  if (!made)
    return made.takeError();
  target = std::move(*made);
  return {};
}

/// The bytes of a list, as tables take them.
std::span<const std::byte> tableBytes(const auto &items) { return std::as_bytes(std::span(items)); }

/// A version that a captured graph has is never written again, by nobody but the graph: a change
/// makes a new version, and the old one stays until the plan ends.
class DeviceTable {
public:
  /// Room for `capacity` bytes; none are read before the first update.
  static Result<DeviceTable> make(const DeviceWorld &world, size_t capacity);

  /// Brings `bytes` to the device, in the order of `stream`. Inside a capture they are there at
  /// once, in memory that nothing else uses. More than there is room for takes new memory.
  Result<void> update(const DeviceWorld &world, std::span<const std::byte> bytes,
                      driver::CUstream stream, bool capturing);

  /// For memory that launches write: new memory where a graph has this, beginning with `initial`.
  Result<void> renewFrozen(const DeviceWorld &world, std::span<const std::byte> initial = {});

  /// A graph has taken the address.
  void freeze() { frozen = true; }
  bool isFrozen() const { return frozen; }

  uint64_t address() const { return memory.address(); }
  size_t workspaceBytes() const;

private:
  /// New memory; where there is none, everything stays as it is.
  Result<void> renew(const DeviceWorld &world, size_t bytes,
                     std::span<const std::byte> initial = {});

  driver::DeviceMemory memory;
  std::vector<driver::DeviceMemory> retired;
  size_t capacity = 0;
  bool frozen = false;
  bool used = false; ///< by a launch that may still run
};

/// A table that is sent only when it changed.
class MirroredTable {
public:
  /// `isWritten`: launches write to it what the host need not know, so no graph may share it.
  static Result<MirroredTable> make(const DeviceWorld &world, size_t capacity,
                                    bool isWritten = false);
  Result<void> update(const DeviceWorld &world, std::span<const std::byte> bytes,
                      driver::CUstream stream, bool capturing);
  void freeze() { table.freeze(); }
  uint64_t address() const { return table.address(); }
  size_t workspaceBytes() const { return table.workspaceBytes(); }

private:
  DeviceTable table;
  bool isWritten = false;
  std::vector<std::byte> held; ///< by the device
};

} // namespace fw::plan
