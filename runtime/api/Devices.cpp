// CUDA devices as a context sees them.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Scopes.h"

using namespace fw;
using namespace fw::api;

Result<const driver::Driver *> ContextState::driver() {
  if (const driver::Driver *known = opened.load(std::memory_order_acquire)) {
    if (Result<void> usable = known->checkFork(); !usable)
      return usable.takeError();
    return known;
  }
  auto found = driver::Driver::open(compiler.settings().text(jit::Knob::cuda_driver));
  if (found)
    opened.store(*found, std::memory_order_release);
  return found;
}

// Neither holds the lock while NVRTC is opened or compiles; two threads may do the same work once.
Result<std::string> ContextState::targetOf(const driver::Device &device) {
  {
    std::lock_guard lock(mutex);
    if (auto known = targets.find(device.ordinal); known != targets.end())
      return known->second;
  }
  Result<std::string> target = compiler.targetOf(device.major, device.minor);
  if (!target)
    return target;
  std::lock_guard lock(mutex);
  return targets.try_emplace(device.ordinal, *target).first->second;
}

Result<driver::Module *> ContextState::scalarsModule(const std::string &target) {
  {
    std::lock_guard lock(mutex);
    if (auto known = scalarsKernels.find(target); known != scalarsKernels.end())
      return &known->second.module;
  }
  auto compiled = compiler.scalarsKernel(target);
  if (!compiled)
    return compiled.takeError();
  std::lock_guard lock(mutex);
  return &scalarsKernels.try_emplace(target, std::move(*compiled)).first->second.module;
}

ContextState::ScalarsKernel::ScalarsKernel(std::shared_ptr<const CompiledKernels> compiled)
    : kernels(std::move(compiled)), module(kernels->kernels.front().image->image(),
                                           kernels->record.kernels.front().launch.symbol) {}

plan::DeviceWorld ContextState::world(const driver::Driver &driver, driver::CUcontext context,
                                      int device, const std::string &target) {
  return {.driver = &driver,
          .context = context,
          .device = device,
          .allocator = &deviceMemory,
          .uploads = &tableUploads,
          .modules = &modules,
          .launches = &launches,
          .scalarsModule = [this, target] { return scalarsModule(target); }};
}

extern "C" {

fw_status fw_context_device_count(fw_context *context, int32_t *out) {
  return border([&] {
    need(out, "out");
    *out = int32_t(take(need(context, "context").state->driver())->devices().size());
  });
}

fw_status fw_context_device(fw_context *context, int32_t device_id, fw_device_info *out) {
  return border([&] {
    ContextState &state = *need(context, "context").state;
    const driver::Driver &driver = *take(state.driver());
    const driver::Device &device = *take(driver.device(device_id));
    fw_device_info info = {};
    info.device_id = device_id;
    info.name = device.name.c_str();
    info.target = state.keep(take(state.targetOf(device)));
    info.compute_major = device.major;
    info.compute_minor = device.minor;
    info.driver_version = driver.version();
    info.multiprocessors = device.multiprocessors;
    info.memory_bytes = device.memoryBytes;
    writeStruct(out, info);
  });
}

fw_status fw_preload(fw_context *context, const fw_program *program, int32_t device_id) {
  return border([&] {
    ContextState &state = *need(context, "context").state;
    const ProgramState &compiled = *need(program, "program").state;
    if (compiled.isForCpu())
      return; // code is linked already
    const driver::Driver &driver = *take(state.driver());
    auto current = take(driver::CurrentContext::ofDevice(driver, device_id));
    for (const auto &kernel : compiled.cuda.kernels)
      if (kernel)
        take(kernel->module.load(driver, state.modules));
  });
}

} // extern "C"
