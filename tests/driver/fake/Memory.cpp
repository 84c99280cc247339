#include "tests/driver/fake/Memory.h"

#include "tests/driver/fake/Queue.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace fw::driver::fake {
namespace {

std::shared_ptr<Allocation> tryAllocate(Context *context, size_t bytes, bool isOnHost) {
  try {
    return std::make_shared<Allocation>(context, bytes, isOnHost);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void checkGuard(const Allocation &allocation) {
  if (allocation.mendGuards())
    State::get().violations.push_back("something wrote outside an allocation of " +
                                      std::to_string(allocation.bytes) + " bytes");
}

/// Frees what begins at `address` after all work of its context, as drivers do.
CUresult release(Call &call, uint64_t address, bool isOnHost) {
  auto found = world().allocations.find(address);
  if (found == world().allocations.end() || found->second->isOnHost != isOnHost)
    return Answer::INVALID_VALUE;
  if (found->second->context != call.context)
    return Answer::INVALID_CONTEXT;
  ++State::get().counts.implicitSynchronisations;
  drain(call.lock, *call.context);
  auto node = world().allocations.extract(address); // another thread may have been faster
  if (node.empty())
    return Answer::INVALID_VALUE;
  checkGuard(*node.mapped());
  if (!isOnHost)
    world().devices[size_t(call.context->device)].bytes -= node.mapped()->bytes;
  return call.context->broken;
}

template <class T> CUresult answer(void *to, T value) {
  memcpy(to, &value, sizeof value);
  return Answer::SUCCESS;
}

} // namespace

std::shared_ptr<Allocation> allocationAt(uint64_t address) {
  auto next = world().allocations.upper_bound(address);
  if (next == world().allocations.begin())
    return nullptr;
  const auto &found = std::prev(next)->second;
  return address - found->address() < found->bytes ? found : nullptr;
}

CUresult checkDevice(const Context *context, uint64_t address, size_t bytes) {
  const auto allocation = allocationAt(address);
  if (!allocation || allocation->isOnHost || !allocation->holds(address, bytes))
    return Answer::INVALID_VALUE;
  return allocation->context == context ? Answer::SUCCESS : Answer::INVALID_CONTEXT;
}

CUresult checkHost(const void *address, size_t bytes) {
  if (!address)
    return Answer::INVALID_VALUE;
  const auto place = reinterpret_cast<uint64_t>(address);
  const auto allocation = allocationAt(place);
  return !allocation || (allocation->isOnHost && allocation->holds(place, bytes))
             ? Answer::SUCCESS
             : Answer::INVALID_VALUE;
}

bool isPageLocked(const void *address) {
  return allocationAt(reinterpret_cast<uint64_t>(address)) != nullptr;
}

void releaseAll(const Context &context) {
  std::erase_if(world().allocations, [&](const auto &entry) {
    if (entry.second->context != &context)
      return false;
    checkGuard(*entry.second);
    if (!entry.second->isOnHost)
      world().devices[size_t(context.device)].bytes -= entry.second->bytes;
    return true;
  });
}

void checkGuards() {
  for (const auto &[address, allocation] : world().allocations)
    checkGuard(*allocation);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  FAKE_CALL(cuMemAlloc_v2, CONTEXT);
  if (!address || bytes == 0)
    return Answer::INVALID_VALUE;
  if (CUresult result = call.unsafe())
    return result;
  Device &device = world().devices[size_t(call.context->device)];
  if (bytes > State::get().settings.memoryBytes - device.bytes)
    return Answer::OUT_OF_MEMORY;
  const auto allocation = tryAllocate(call.context, bytes, false);
  if (!allocation)
    return Answer::OUT_OF_MEMORY;
  device.bytes += bytes;
  device.peakBytes = std::max(device.peakBytes, device.bytes);
  *address = allocation->address();
  world().allocations.emplace(*address, allocation);
  return Answer::SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  FAKE_CALL(cuMemFree_v2, CONTEXT);
  if (CUresult result = call.unsafe())
    return result;
  return release(call, address, false);
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  FAKE_CALL(cuMemHostAlloc, CONTEXT);
  if (!address || bytes == 0)
    return Answer::INVALID_VALUE;
  if (CUresult result = call.unsafe())
    return result;
  const auto allocation = tryAllocate(call.context, bytes, true);
  if (!allocation)
    return Answer::OUT_OF_MEMORY;
  world().allocations.emplace(allocation->address(), allocation);
  *address = reinterpret_cast<void *>(allocation->address());
  return Answer::SUCCESS;
}

CUresult cuMemFreeHost(void *address) {
  FAKE_CALL(cuMemFreeHost, CONTEXT);
  if (CUresult result = call.unsafe())
    return result;
  return release(call, reinterpret_cast<uint64_t>(address), true);
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
  FAKE_CALL(cuPointerGetAttribute, INIT);
  const auto allocation = allocationAt(address);
  if (!value || !allocation)
    return Answer::INVALID_VALUE;
  switch (attribute) {
  case PointerAttribute::CONTEXT:
    return answer(value, allocation->context->handle);
  case PointerAttribute::MEMORY_TYPE:
    return answer(value, allocation->isOnHost ? MemoryType::HOST : MemoryType::DEVICE);
  case PointerAttribute::DEVICE_POINTER:
    return answer(value, address);
  case PointerAttribute::HOST_POINTER:
    return allocation->isOnHost ? answer(value, address) : Answer::INVALID_VALUE;
  case PointerAttribute::DEVICE_ORDINAL:
    return answer(value, allocation->context->device);
  case PointerAttribute::RANGE_START:
    return answer(value, allocation->address());
  case PointerAttribute::RANGE_SIZE:
    return answer(value, allocation->bytes);
  }
  return Answer::INVALID_VALUE;
}

} // namespace fw::driver::fake
