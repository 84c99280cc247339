#include "tests/driver/fake/Control.h"

#include "tests/driver/fake/Memory.h"
#include "tests/driver/fake/State.h"

#include <cstring>
#include <iterator>

namespace fw::driver::fake {
namespace {

constexpr const char *names[] = {
#define FW_CUDA(member, symbol, arguments) #symbol,
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
};

/// The number of a function, or the count of functions.
size_t numberOf(const char *name) {
  size_t number = 0;
  while (number < std::size(names) && strcmp(names[number], name) != 0)
    ++number;
  return number;
}

/// A text that stays until the thread's next answer from the same place.
const char *keep(std::string &place, std::string text) {
  place = std::move(text);
  return place.c_str();
}

/// What objects of a world say of each other in circles.
void untie() {
  for (const auto &capture : world().captures)
    capture->origin.reset();
  world().contexts.each([](Context &context) {
    for (const auto &stream : context.streams) {
      stream->capture.reset();
      stream->queue.clear();
    }
  });
}

uint64_t ofDevice(int device, uint64_t Device::*member) {
  const std::lock_guard lock(State::get().mutex);
  const auto &devices = world().devices;
  return device >= 0 && size_t(device) < devices.size() ? devices[size_t(device)].*member : 0;
}

/// The allocation around a range of device memory, or null.
std::shared_ptr<Allocation> around(uint64_t address, size_t bytes) {
  const std::lock_guard lock(State::get().mutex);
  auto allocation = allocationAt(address);
  return allocation && allocation->holds(address, bytes) ? allocation : nullptr;
}

/// Copies while the memory may be touched.
bool copyInside(uint64_t address, size_t bytes, void *to, const void *from) {
  const std::lock_guard engine(State::get().engine);
  const auto allocation = around(address, bytes);
  if (!allocation)
    return false;
  allocation->allow();
  memcpy(to, from, bytes);
  allocation->forbid();
  return true;
}

} // namespace
} // namespace fw::driver::fake

using namespace fw::driver::fake;

void fake_cuda_reset(void) {
  State &state = State::get();
  const std::lock_guard lock(state.mutex);
  untie();
  state.world = World();
  state.settings = Settings::ofEnvironment();
  state.failures = {};
  state.launchFault = {};
  state.launchNothing = state.reusesContexts = false;
  state.violations.clear();
  Thread::get() = {};
}

void fake_cuda_devices(const char *capabilities) {
  const std::lock_guard lock(State::get().mutex);
  State::get().settings.capabilities = capabilities;
}

void fake_cuda_version(int version) {
  const std::lock_guard lock(State::get().mutex);
  State::get().settings.version = version;
}

void fake_cuda_memory(uint64_t bytes) {
  const std::lock_guard lock(State::get().mutex);
  State::get().settings.memoryBytes = bytes;
}

void fake_cuda_init(int result) {
  const std::lock_guard lock(State::get().mutex);
  State::get().settings.initResult = result;
}

int fake_cuda_fail(const char *function, unsigned nth, int result) {
  const std::lock_guard lock(State::get().mutex);
  const size_t number = numberOf(function);
  if (number == std::size(names))
    return 0;
  State::get().failures[number] = {nth, result};
  return 1;
}

void fake_cuda_fault_launch(unsigned nth, int result) {
  const std::lock_guard lock(State::get().mutex);
  State::get().launchFault = {nth, result};
}

void fake_cuda_heal(void) {
  State &state = State::get();
  const std::lock_guard lock(state.mutex);
  state.failures = {};
  state.launchFault = {};
  state.violations.clear();
  state.world.contexts.each([](Context &context) { context.broken = 0; });
}

int fake_cuda_register_kernel(const fake_cuda_kernel *kernel) {
  const std::lock_guard lock(State::get().mutex);
  const auto [place, isNew] = State::get().twins.emplace(kernel->symbol, *kernel);
  return isNew || (place->second.self == kernel->self && place->second.run == kernel->run);
}

void fake_cuda_forget_kernels(void) {
  const std::lock_guard lock(State::get().mutex);
  State::get().twins.clear();
}

void fake_cuda_launch_nothing(int nothing) {
  const std::lock_guard lock(State::get().mutex);
  State::get().launchNothing = nothing;
}

void fake_cuda_reuse_contexts(int reuse) {
  const std::lock_guard lock(State::get().mutex);
  State::get().reusesContexts = reuse;
}

void fake_cuda_seed(uint64_t seed) { State::get().seed = seed; }

uint64_t fake_cuda_calls(const char *function) {
  const std::lock_guard lock(State::get().mutex);
  const size_t number = numberOf(function);
  return number < std::size(names) ? State::get().calls[number] : UINT64_MAX;
}

const char *fake_cuda_call_list(void) {
  thread_local std::string place;
  std::string text;
  const std::lock_guard lock(State::get().mutex);
  for (size_t k = 0; k < std::size(names); ++k)
    if (uint64_t count = State::get().calls[k])
      text += (text.empty() ? "" : ", ") + std::string(names[k]) + " " + std::to_string(count);
  return keep(place, std::move(text));
}

void fake_cuda_forget_calls(void) {
  const std::lock_guard lock(State::get().mutex);
  State::get().calls = {};
  State::get().counts = {};
}

void fake_cuda_counts_now(fake_cuda_counts *counts) {
  const std::lock_guard lock(State::get().mutex);
  *counts = State::get().counts;
}

uint64_t fake_cuda_bytes(int device) { return ofDevice(device, &Device::bytes); }
uint64_t fake_cuda_peak_bytes(int device) { return ofDevice(device, &Device::peakBytes); }

uint64_t fake_cuda_pending(void) {
  const std::lock_guard lock(State::get().mutex);
  uint64_t count = 0;
  world().contexts.each([&](const Context &context) {
    for (const auto &stream : context.streams)
      count += stream->queue.size();
  });
  return count;
}

const char *fake_cuda_check(void) {
  thread_local std::string place;
  std::string text;
  const std::lock_guard engine(State::get().engine);
  const std::lock_guard lock(State::get().mutex);
  checkGuards();
  for (const std::string &violation : State::get().violations)
    text += (text.empty() ? "" : "\n") + violation;
  return text.empty() ? nullptr : keep(place, std::move(text));
}

int fake_cuda_peek(uint64_t address, void *to, size_t bytes) {
  return copyInside(address, bytes, to, reinterpret_cast<const void *>(address));
}

int fake_cuda_poke(uint64_t address, const void *from, size_t bytes) {
  return copyInside(address, bytes, reinterpret_cast<void *>(address), from);
}
