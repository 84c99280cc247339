// Memory for callers without an allocator.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Scopes.h"

#include <cstdlib>

using namespace fw;
using namespace fw::api;

namespace {

constexpr size_t alignment = 256;

void checkRange(const fw_buffer &buffer, size_t offset, size_t bytes) {
  if (offset > buffer.bytes || bytes > buffer.bytes - offset)
    throw Failure{{Code::USAGE,
                   "expected a range inside the buffer of " + std::to_string(buffer.bytes) +
                       " bytes, got " + std::to_string(bytes) + " bytes at " +
                       std::to_string(offset),
                   "copy less, or make a larger buffer"}};
}

void needMemory(const void *memory, const char *name) {
  need(static_cast<const std::byte *>(memory), name);
}

/// The driver with the buffer's context current, outside any capture of the stream.
struct Access {
  Access(const fw_buffer &buffer, fw_stream stream)
      : driver(*take(buffer.context->driver())), stream(static_cast<driver::CUstream>(stream)),
        current(take(driver::CurrentContext::enter(driver, buffer.cudaContext))) {
    if (take(driver::isCapturing(driver, this->stream)))
      throw Failure{{Code::USAGE, "expected a stream that is not captured, got one that is",
                     "copy before the capture begins or after it ends"}};
  }

  const driver::Driver &driver;
  driver::CUstream stream;
  driver::CurrentContext current;
};

fw_buffer makeHost(std::shared_ptr<ContextState> context, size_t bytes) {
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory =
      rounded < bytes ? nullptr : std::aligned_alloc(alignment, std::max(rounded, alignment));
  if (!memory)
    throw std::bad_alloc();
  return {std::move(context),
          {FW_DEVICE_CPU, 0},
          {static_cast<std::byte *>(memory), std::free},
          {},
          nullptr,
          bytes};
}

fw_buffer makeCuda(std::shared_ptr<ContextState> context, int device, size_t bytes) {
  const driver::Driver &driver = *take(context->driver());
  auto current = take(driver::CurrentContext::ofDevice(driver, device));
  auto memory = take(driver::DeviceMemory::allocate(driver, context->deviceMemory, device,
                                                    std::max(bytes, alignment)));
  return {std::move(context),   {FW_DEVICE_CUDA, device},
          {nullptr, std::free}, std::move(memory),
          current.get(),        bytes};
}

} // namespace

std::byte *fw_buffer::data() const {
  return host ? host.get() : reinterpret_cast<std::byte *>(memory.address());
}

extern "C" {

fw_status fw_buffer_create(fw_context *context, fw_device device, int32_t device_id, size_t bytes,
                           fw_buffer **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    if (device != FW_DEVICE_CPU && device != FW_DEVICE_CUDA)
      throw Failure{
          {Code::USAGE,
           "device: expected FW_DEVICE_CPU or FW_DEVICE_CUDA, got " + std::to_string(int(device)),
           "pass one of them"}};
    *out = new fw_buffer(device == FW_DEVICE_CPU ? makeHost(state, bytes)
                                                 : makeCuda(state, device_id, bytes));
  });
}

void fw_buffer_destroy(fw_buffer *buffer) { delete buffer; }

void *fw_buffer_data(const fw_buffer *buffer) { return buffer ? buffer->data() : nullptr; }

size_t fw_buffer_bytes(const fw_buffer *buffer) { return buffer ? buffer->bytes : 0; }

fw_status fw_buffer_copy_in(fw_buffer *buffer, size_t offset, const void *from, size_t bytes,
                            fw_stream stream) {
  return border([&] {
    checkRange(need(buffer, "buffer"), offset, bytes);
    if (bytes == 0)
      return;
    needMemory(from, "from");
    if (buffer->host) {
      std::memcpy(buffer->data() + offset, from, bytes);
      return;
    }
    Access access(*buffer, stream);
    take(driver::check(access.driver,
                       access.driver.cu().memcpyHtoDAsync(buffer->memory.address() + offset, from,
                                                          bytes, access.stream),
                       "copying to a buffer"));
    // Page-locked memory is read while the copy runs, so only then may `from` change.
    take(driver::check(access.driver, access.driver.cu().streamSynchronize(access.stream),
                       "copying to a buffer"));
  });
}

fw_status fw_buffer_copy_out(const fw_buffer *buffer, size_t offset, void *to, size_t bytes,
                             fw_stream stream) {
  return border([&] {
    checkRange(need(buffer, "buffer"), offset, bytes);
    if (bytes == 0)
      return;
    needMemory(to, "to");
    if (buffer->host) {
      std::memcpy(to, buffer->data() + offset, bytes);
      return;
    }
    Access access(*buffer, stream);
    take(driver::check(access.driver,
                       access.driver.cu().memcpyDtoHAsync(to, buffer->memory.address() + offset,
                                                          bytes, access.stream),
                       "copying from a buffer"));
    take(driver::check(access.driver, access.driver.cu().streamSynchronize(access.stream),
                       "copying from a buffer"));
  });
}

} // extern "C"
