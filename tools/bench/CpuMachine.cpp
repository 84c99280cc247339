// Plans and launches on the CPU beside a bare stream of the same reads and writes.
#include "tools/bench/CpuStream.h"
#include "tools/bench/Machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace fw::bench {

namespace {

class CpuMachine final : public Machine {
public:
  explicit CpuMachine(fw_context *context) : context(context) {}

  std::string description() const override {
    return "the CPU, " + std::to_string(cores()) + " threads";
  }
  std::string yardstick() const override { return "stream"; }
  fw_stream stream() const override { return nullptr; }

  Result<std::byte *> reserve(size_t bytes) override {
    auto buffer = host::make<fw_buffer>(fw_buffer_create, context, FW_DEVICE_CPU, 0, bytes);
    if (!buffer)
      return buffer.takeError();
    operands = std::move(*buffer);
    return static_cast<std::byte *>(fw_buffer_data(operands.get()));
  }

  Result<void> fill(std::byte *to, size_t bytes, std::span<const std::byte> pattern) override {
    for (size_t filled = 0; filled < bytes; filled += pattern.size())
      std::memcpy(to + filled, pattern.data(), std::min(pattern.size(), bytes - filled));
    return {};
  }

  Result<void> fetch(const std::byte *from, std::span<std::byte> to) override {
    std::ranges::copy_n(from, std::ptrdiff_t(to.size()), to.begin());
    return {};
  }

  Result<Figures> measure(const Work &work, std::span<const Stream> streams, int rounds) override;

private:
  static unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

  fw_context *context;
  host::Handle<fw_buffer> operands;
};

template <class Call> double microsecondsOf(const Call &call) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Both in turn, so that a slow moment of the machine meets both.
Result<Figures> CpuMachine::measure(const Work &work, std::span<const Stream> streams, int rounds) {
  constexpr int warmUps = 2;
  std::vector<CpuStream::Array> arrays;
  double bytes = 0;
  for (const Stream &stream : streams) {
    arrays.push_back({stream.bytes / 4, stream.isRead, stream.isWritten});
    bytes += double(stream.bytes) * (stream.isRead + stream.isWritten);
  }
  CpuStream bare(arrays, cores());
  std::vector<double> ours, stream;
  for (int round = -warmUps; round < rounds; ++round) {
    Result<void> done;
    const double workUs = microsecondsOf([&] { done = work(); });
    const double bareUs = microsecondsOf([&] { bare.run(); });
    if (!done)
      return done.takeError();
    if (round >= 0)
      ours.push_back(workUs), stream.push_back(bareUs);
  }
  Figures figures;
  figures.us = figures.hostUs = median(std::move(ours));
  figures.yardstick = yardstick();
  figures.yardstickRate = bytes / median(std::move(stream));
  return figures;
}

} // namespace

double median(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<std::unique_ptr<Machine>> makeCpuMachine(fw_context *context) {
  return std::unique_ptr<Machine>(std::make_unique<CpuMachine>(context));
}

} // namespace fw::bench
