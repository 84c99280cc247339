// Plans and launches on a GPU beside device-to-device copies, by the method of PERFORMANCE 0.
#include "tools/bench/CudaQueue.h"
#include "tools/bench/ReadYardstick.h"

#include <algorithm>
#include <chrono>

namespace fw::bench {

namespace {

constexpr size_t largestCopy = size_t(4) << 30, smallestCopy = size_t(256) << 20;
/// Foreign data that is copied before each measurement: it leaves the L2 cache with nothing of the
/// last round, and keeps the device busy until the host has queued what is measured.
constexpr size_t flushBytes = size_t(128) << 20;
constexpr int warmUps = 3;

class CudaMachine final : public Machine {
public:
  CudaMachine(fw_context *context, const host::Device &device, std::string name, std::string arch,
              std::unique_ptr<CudaQueue> queue)
      : context(context), device(device), name(std::move(name)), arch(std::move(arch)),
        queue(std::move(queue)) {}

  std::string description() const override { return name; }
  std::string yardstick() const override { return "copy"; }
  fw_stream stream() const override { return queue->stream(); }

  Result<std::byte *> reserve(size_t bytes) override;
  Result<void> fill(std::byte *to, size_t bytes, std::span<const std::byte> pattern) override;
  Result<void> fetch(const std::byte *from, std::span<std::byte> to) override;
  Result<Figures> measure(const Work &run, std::span<const Stream> streams, int rounds) override;

private:
  Result<void> reserveCopies();
  Result<void> flush() { return queue->copy(target(), source(), std::min(flushBytes, copyBytes)); }
  /// Median device time; with `idle` the device has nothing to do when the clock starts.
  Result<double> timeOf(const Work &work, int rounds, bool idle);
  Result<double> hostTimeOf(const Work &work);
  /// Bytes read and written a microsecond.
  Result<double> copyRate(size_t bytes, int rounds);
  Result<double> largestCopyRate(int rounds);
  /// The yardstick of so many bytes in one direction or both.
  Result<void> measureCopy(Figures &figures, uint64_t bytes, int rounds);
  Result<void> measureRead(Figures &figures, uint64_t bytes, int rounds);
  Result<double> graphTimeOf(const Work &work, int rounds);
  uint64_t source() const { return reinterpret_cast<uint64_t>(fw_buffer_data(copies[0].get())); }
  uint64_t target() const { return reinterpret_cast<uint64_t>(fw_buffer_data(copies[1].get())); }

  fw_context *context;
  host::Device device;
  std::string name, arch;
  std::unique_ptr<CudaQueue> queue;
  std::unique_ptr<ReadYardstick> reads; ///< made when it is first needed
  host::Handle<fw_buffer> operands, copies[2];
  size_t copyBytes = 0;
  std::optional<double> largeRate; ///< of the largest copy
};

Result<std::byte *> CudaMachine::reserve(size_t bytes) {
  auto buffer = host::make<fw_buffer>(fw_buffer_create, context, device.kind, device.id, bytes);
  if (!buffer)
    return buffer.takeError();
  operands = std::move(*buffer);
  if (Result<void> made = reserveCopies(); !made)
    return made.takeError();
  return static_cast<std::byte *>(fw_buffer_data(operands.get()));
}

/// As large as the device has room for. Kept to the end: after a large free, everything runs slower
/// for some milliseconds.
Result<void> CudaMachine::reserveCopies() {
  for (copyBytes = largestCopy;; copyBytes /= 2) {
    Result<void> made;
    for (auto &copy : copies) {
      auto buffer =
          host::make<fw_buffer>(fw_buffer_create, context, device.kind, device.id, copyBytes);
      if (buffer)
        copy = std::move(*buffer);
      else
        made = buffer.takeError();
    }
    if (made)
      break;
    copies[0].reset(), copies[1].reset();
    if (made.error().code != Code::OUT_OF_MEMORY || copyBytes == smallestCopy)
      return made;
  }
  std::vector<std::byte> noise(size_t(1) << 20);
  uint64_t state = 1;
  for (std::byte &byte : noise)
    byte = std::byte((state = state * 6364136223846793005 + 1442695040888963407) >> 56);
  return fill(reinterpret_cast<std::byte *>(source()), copyBytes, noise);
}

Result<void> CudaMachine::fill(std::byte *to, size_t bytes, std::span<const std::byte> pattern) {
  const auto address = reinterpret_cast<uint64_t>(to);
  size_t filled = std::min(bytes, pattern.size());
  const driver::Driver &driver = queue->driver();
  Result<void> done = driver::check(
      driver, driver.cu().memcpyHtoDAsync(address, pattern.data(), filled, queue->stream()),
      "copying to the device");
  for (; done && filled < bytes; filled = std::min(bytes, 2 * filled))
    done = queue->copy(address + filled, address, std::min(filled, bytes - filled));
  if (done)
    done = queue->wait();
  return done;
}

Result<double> CudaMachine::timeOf(const Work &work, int rounds, bool idle) {
  std::vector<double> times;
  for (int round = -warmUps; round < rounds; ++round) {
    Result<void> ready = flush();
    if (ready && idle)
      ready = queue->wait();
    if (!ready)
      return ready.takeError();
    Result<double> time = queue->time(work);
    if (!time)
      return time.takeError();
    if (round >= 0)
      times.push_back(*time);
  }
  return median(std::move(times));
}

Result<double> CudaMachine::hostTimeOf(const Work &work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int round = 0; round < 101; ++round) {
    if (Result<void> ready = queue->wait(); !ready)
      return ready.takeError();
    auto start = Clock::now();
    Result<void> done = work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (!done)
      return done.takeError();
  }
  if (Result<void> ended = queue->wait(); !ended)
    return ended.takeError();
  return median(std::move(times));
}

Result<double> CudaMachine::copyRate(size_t bytes, int rounds) {
  Result<double> us = timeOf([&] { return queue->copy(target(), source(), bytes); }, rounds, false);
  if (!us)
    return us.takeError();
  return 2 * double(bytes) / *us;
}

Result<double> CudaMachine::largestCopyRate(int rounds) {
  if (largeRate)
    return *largeRate;
  Result<double> rate = copyRate(copyBytes, rounds);
  if (rate)
    largeRate = *rate;
  return rate;
}

Result<double> CudaMachine::graphTimeOf(const Work &work, int rounds) {
  auto graph = CudaGraph::capture(*queue, work);
  if (!graph)
    return graph.takeError();
  return timeOf([&] { return (*graph)->launch(); }, rounds, false);
}

Result<void> CudaMachine::fetch(const std::byte *from, std::span<std::byte> to) {
  const auto *base = static_cast<const std::byte *>(fw_buffer_data(operands.get()));
  return host::check(fw_buffer_copy_out(operands.get(), size_t(from - base), to.data(), to.size(),
                                        queue->stream()));
}

Result<void> CudaMachine::measureCopy(Figures &figures, uint64_t bytes, int rounds) {
  figures.yardstick = yardstick();
  const size_t half = std::min<size_t>(std::max<size_t>(bytes / 2, 1), copyBytes);
  Result<double> rate = copyRate(half, rounds), large = largestCopyRate(rounds);
  if (!rate)
    return rate.takeError();
  if (!large)
    return large.takeError();
  figures.yardstickRate = *rate, figures.largeRate = *large;
  return {};
}

/// Reads the memory of the operands: what the program has read.
Result<void> CudaMachine::measureRead(Figures &figures, uint64_t bytes, int rounds) {
  bytes = std::min<uint64_t>(bytes, fw_buffer_bytes(operands.get()));
  bytes -= bytes % ReadLaunch::vectorBytes;
  if (!reads) {
    auto made = ReadYardstick::create(queue->driver(), arch);
    if (!made)
      return made.takeError();
    reads = std::move(*made);
  }
  figures.yardstick = "read";
  const auto from = reinterpret_cast<uint64_t>(fw_buffer_data(operands.get()));
  for (const ReadShape &shape : ReadShape::all()) {
    Result<double> us =
        timeOf([&] { return reads->launch(shape, from, bytes, target(), queue->stream()); }, rounds,
               false);
    if (!us)
      return us.takeError();
    if (const double rate = double(bytes) / *us; rate > figures.yardstickRate)
      figures.yardstickRate = rate, figures.yardstickText = shape.text();
  }
  return {};
}

Result<Figures> CudaMachine::measure(const Work &run, std::span<const Stream> streams, int rounds) {
  uint64_t bytes = 0;
  bool isWritten = false;
  for (const Stream &stream : streams) {
    bytes += stream.bytes * (stream.isRead + stream.isWritten);
    isWritten |= stream.isWritten;
  }
  Figures figures;
  Error error;
  auto keep = [&](auto &place, Result<double> value) {
    if (value)
      place = *value;
    else
      error = value.takeError();
    return error.text.empty();
  };
  if (!keep(figures.us, timeOf(run, rounds, false)))
    return error;
  // Right behind the time that it is held against.
  Result<void> held = isWritten || bytes < ReadLaunch::vectorBytes
                          ? measureCopy(figures, bytes, rounds)
                          : measureRead(figures, bytes, rounds);
  if (!held)
    return held.takeError();
  if (!keep(figures.graphUs, graphTimeOf(run, rounds)) ||
      !keep(figures.idleUs, timeOf(run, rounds, true)) || !keep(figures.hostUs, hostTimeOf(run)))
    return error;
  return figures;
}

} // namespace

Result<std::unique_ptr<Machine>> makeCudaMachine(fw_context *context, const host::Device &device) {
  Result<fw_device_info> info = host::describe(context, device);
  if (!info)
    return info.takeError();
  std::string name = std::string(info->name) + ", driver for CUDA " +
                     std::to_string(info->driver_version / 1000) + "." +
                     std::to_string(info->driver_version % 1000 / 10);
  auto queue = CudaQueue::create(device.id);
  if (!queue)
    return queue.takeError();
  return std::unique_ptr<Machine>(std::make_unique<CudaMachine>(context, device, std::move(name),
                                                                info->target, std::move(*queue)));
}

} // namespace fw::bench
