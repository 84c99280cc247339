#include "runtime/plan/CudaPlan.h"

#include "runtime/driver/Scopes.h"
#include "runtime/plan/CudaLaunch.h"

#include <algorithm>

namespace fw::plan {
namespace {

class CudaPlan : public Plan {
public:
  CudaPlan(DeviceWorld given, std::vector<Group> lists)
      : world(std::move(given)), groups(std::move(lists)) {}

  Result<void> makeLaunches(std::span<const CudaKernel *const> kernels) {
    std::vector<const CudaKernel *> distinct;
    for (const CudaKernel *kernel : kernels)
      if (std::ranges::find(distinct, kernel) == distinct.end())
        distinct.push_back(kernel);
    for (const CudaKernel *kernel : distinct) {
      std::vector<size_t> chosen;
      for (size_t g = 0; g < kernels.size(); ++g)
        if (kernels[g] == kernel)
          chosen.push_back(g);
      auto launch = CudaLaunch::make(world, *kernel, groups, std::move(chosen));
      if (!launch)
        return launch.takeError();
      launches.push_back(std::move(*launch));
    }
    return {};
  }

  Result<void> setPointers(size_t group, size_t operand, std::span<void *const> pointers) override {
    if (Result<void> good = checkPointers(groups[group], operand, pointers); !good)
      return good;
    for (auto &launch : launches)
      if (Result<void> done = launch->repoint(groups, group, operand, pointers); !done)
        return done;
    return {};
  }

  Result<void> run(const RunScalars &scalars, void *handle, const fw_world *) override {
    auto stream = static_cast<driver::CUstream>(handle);
    if (Result<void> usable = world.driver->checkFork(); !usable)
      return usable;
    auto context = driver::CurrentContext::enter(*world.driver, world.context);
    if (!context)
      return context.takeError();
    Result<bool> capturing = driver::isCapturing(*world.driver, stream);
    if (!capturing)
      return capturing.takeError();
    std::vector<ScalarCounter> counters = countersOf(scalars, groups.size(), hyperCount());
    for (auto &launch : launches) {
      // The last prologue counts; those before it on the stream read one more than they find.
      const bool isLast = launch == launches.back();
      Result<void> ready = launch->prepare(groups, scalars,
                                           isLast ? std::span<const ScalarCounter>(counters)
                                                  : std::span<const ScalarCounter>(),
                                           stream, *capturing);
      if (!ready)
        return ready;
    }
    return launchAll(stream);
  }

  Stats stats() const override {
    Stats stats = countGroups(groups);
    for (const auto &launch : launches) {
      stats.launches += launch->launchCount();
      stats.blocks += launch->blocks();
      stats.workspaceBytes += launch->workspaceBytes();
    }
    return stats;
  }

private:
  Result<void> launchAll(driver::CUstream stream) {
    bool hasWritten = false; // tensors, by a kernel that is queued
    for (auto &launch : launches) {
      if (Result<void> launched = launch->launch(stream); !launched)
        return stoppedBy(launched.takeError(), hasWritten, stream);
      hasWritten = hasWritten || launch->blocks() > 0;
    }
    return {};
  }

  /// The error of a run of which kernels are queued already, with what they leave behind.
  Error stoppedBy(Error error, bool hasWritten, driver::CUstream stream) {
    if (hasWritten) {
      error.text += ", behind kernels of the same run: some groups have had this step";
      error.remedy += "; restore the tensors and the step before the next run";
    } else if (!launches.back()->takeBack(stream)) {
      error.text += ", and the step that was counted for it cannot be taken back";
      error.remedy += "; restore the step before the next run";
    }
    return error;
  }

  size_t hyperCount() const { return groups.empty() ? 0 : groups.front().program->hypers.size(); }

  const DeviceWorld world;
  std::vector<Group> groups;
  std::vector<std::unique_ptr<CudaLaunch>> launches;
};

} // namespace

Result<std::unique_ptr<Plan>> makeCudaPlan(DeviceWorld world, std::vector<Group> groups,
                                           std::span<const CudaKernel *const> kernels) {
  auto plan = std::make_unique<CudaPlan>(std::move(world), std::move(groups));
  if (Result<void> made = plan->makeLaunches(kernels); !made)
    return made.takeError();
  return std::unique_ptr<Plan>(std::move(plan));
}

} // namespace fw::plan
