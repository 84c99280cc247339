#include "tests/driver/fake/Memory.h"
#include "tests/driver/fake/Queue.h"

#include <cstring>

namespace fw::driver::fake {
namespace {

/// Up to here a driver keeps the bytes of a pageable copy itself; above it waits for the stream.
constexpr size_t keptBytes = 64 << 10;

void *placeOf(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

Work copy(void *to, const void *from, size_t bytes) {
  return {.kind = Work::Kind::MEMORY, .run = [=] {
            memcpy(to, from, bytes);
            return std::string();
          }};
}

/// A copy of what `from` holds now.
Work copyOfBytes(CUdeviceptr to, const void *from, size_t bytes) {
  const auto *first = static_cast<const std::byte *>(from);
  auto kept = std::make_shared<const std::vector<std::byte>>(first, first + bytes);
  return {.kind = Work::Kind::MEMORY, .run = [=] {
            memcpy(placeOf(to), kept->data(), kept->size());
            return std::string();
          }};
}

Work set(CUdeviceptr to, unsigned char value, size_t bytes) {
  return {.kind = Work::Kind::MEMORY,
          .run =
              [=] {
                memset(placeOf(to), value, bytes);
                return std::string();
              },
          .ranges = {{to, bytes}}};
}

CUresult copyToDevice(Call &call, const std::shared_ptr<Stream> &stream, CUdeviceptr to,
                      const void *from, size_t bytes) {
  CUresult result = checkDevice(call.context, to, bytes);
  if (!result)
    result = checkHost(from, bytes);
  if (result)
    return result;
  const bool keeps = !stream->capture && !isPageLocked(from);
  if (keeps && bytes > keptBytes)
    ++State::get().counts.implicitSynchronisations;
  Work work = keeps ? copyOfBytes(to, from, bytes) : copy(placeOf(to), from, bytes);
  work.ranges = {{to, bytes}};
  return submit(call, stream, std::move(work));
}

CUresult copyToHost(Call &call, const std::shared_ptr<Stream> &stream, void *to, CUdeviceptr from,
                    size_t bytes) {
  CUresult result = checkDevice(call.context, from, bytes);
  if (!result)
    result = checkHost(to, bytes);
  if (result)
    return result;
  const bool waits = !stream->capture && !isPageLocked(to);
  if (waits && (result = call.unsafe()))
    return result;
  Work work = copy(to, placeOf(from), bytes);
  work.ranges = {{from, bytes}};
  result = submit(call, stream, std::move(work));
  if (result || !waits)
    return result;
  ++State::get().counts.implicitSynchronisations;
  drain(call.lock, *stream);
  return call.context->broken;
}

/// The legacy stream of a synchronous call; `result` says whether a capture allows it now.
std::shared_ptr<Stream> synchronous(Call &call, CUresult &result) {
  result = breakByLegacyUse(*call.context);
  if (!result)
    result = call.unsafe();
  return call.context->legacy;
}

CUresult wait(Call &call, CUresult submitted, const Stream &stream) {
  if (submitted)
    return submitted;
  drain(call.lock, stream);
  return call.context->broken;
}

} // namespace

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream handle) {
  FAKE_CALL(cuMemcpyHtoDAsync_v2, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findOwnStream(call, handle, stream); result || bytes == 0)
    return result;
  return copyToDevice(call, stream, to, from, bytes);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream handle) {
  FAKE_CALL(cuMemcpyDtoHAsync_v2, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findOwnStream(call, handle, stream); result || bytes == 0)
    return result;
  return copyToHost(call, stream, to, from, bytes);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  FAKE_CALL(cuMemcpyDtoDAsync_v2, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findOwnStream(call, handle, stream); result || bytes == 0)
    return result;
  if (CUresult result = checkDevice(call.context, to, bytes))
    return result;
  if (CUresult result = checkDevice(call.context, from, bytes))
    return result;
  Work work = copy(placeOf(to), placeOf(from), bytes);
  work.ranges = {{to, bytes}, {from, bytes}};
  return submit(call, stream, std::move(work));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream handle) {
  FAKE_CALL(cuMemsetD8Async, CONTEXT);
  std::shared_ptr<Stream> stream;
  if (CUresult result = findOwnStream(call, handle, stream); result || bytes == 0)
    return result;
  if (CUresult result = checkDevice(call.context, to, bytes))
    return result;
  return submit(call, stream, set(to, value, bytes));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  FAKE_CALL(cuMemcpyHtoD_v2, CONTEXT);
  CUresult result = Answer::SUCCESS;
  const auto stream = synchronous(call, result);
  if (result || bytes == 0)
    return result;
  return wait(call, copyToDevice(call, stream, to, from, bytes), *stream);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  FAKE_CALL(cuMemcpyDtoH_v2, CONTEXT);
  CUresult result = Answer::SUCCESS;
  const auto stream = synchronous(call, result);
  if (result || bytes == 0)
    return result;
  return wait(call, copyToHost(call, stream, to, from, bytes), *stream);
}

/// Asynchronous to the host in spite of its name, as it is in CUDA for device memory.
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes) {
  FAKE_CALL(cuMemsetD8_v2, CONTEXT);
  CUresult result = Answer::SUCCESS;
  const auto stream = synchronous(call, result);
  if (result || bytes == 0)
    return result;
  if ((result = checkDevice(call.context, to, bytes)))
    return result;
  return submit(call, stream, set(to, value, bytes));
}

} // namespace fw::driver::fake
