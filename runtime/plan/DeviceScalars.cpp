#include "runtime/plan/DeviceScalars.h"

#include <algorithm>

namespace fw::plan {

// --- The kernel ----------------------------------------------------------------------------------

Result<void> ScalarsKernel::load(const DeviceWorld &world, bool capturing) {
  if (function)
    return {};
  if (capturing)
    return Error{Code::USAGE,
                 "expected a plan that has read numbers in device memory before a run that does is "
                 "captured, got one that has not",
                 "name their memory in the groups of fw_plan_create, or run once before the "
                 "capture"};
  auto module = world.scalarsModule();
  if (!module)
    return module.takeError();
  auto loaded = (*module)->load(*world.driver, *world.modules);
  if (!loaded)
    return loaded.takeError();
  function = *loaded;
  return {};
}

Result<void> ScalarsKernel::launch(const DeviceWorld &world, const ScalarsLaunch &launch,
                                   driver::CUstream stream) const {
  ScalarsLaunch copy = launch;
  void *parameters[] = {&copy};
  ++*world.launches;
  return driver::check(*world.driver,
                       world.driver->cu().launchKernel(function, 1, 1, 1, ScalarsLaunch::THREADS, 1,
                                                       1, ScalarsLaunch::SHARED_BYTES, stream,
                                                       parameters, nullptr),
                       "launching fw_scalars");
}

Result<void> checkLength(const jit::ScalarProgram &program) {
  if (ScalarsLaunch::lanes(uint32_t(program.inputs.size()), uint32_t(program.operations.size())))
    return {};
  return Error{Code::USAGE,
               "expected scalars in device memory of an op with fewer operations on scalars, got " +
                   std::to_string(program.operations.size()),
               "pass host values, or make the op's scalars of fewer operations"};
}

// --- Tables --------------------------------------------------------------------------------------

Result<DeviceScalars> DeviceScalars::make(const DeviceWorld &world,
                                          const jit::ScalarProgram &program, size_t mostRows,
                                          bool doubles) {
  if (Result<void> fits = checkLength(program); !fits)
    return fits.takeError();
  DeviceScalars made;
  made.scalars = &program;
  if (Result<void> allocated = made.allocate(world, mostRows, doubles); !allocated)
    return allocated.takeError();
  if (Result<void> sent = made.sendProgram(world); !sent)
    return sent.takeError();
  made.arguments.doubles = doubles;
  return made;
}

Result<void> DeviceScalars::allocate(const DeviceWorld &world, size_t mostRows, bool doubles) {
  const size_t sourceBytes = mostRows * scalars->inputs.size() * sizeof(ScalarSource);
  if (auto made = remake(sources, world, sourceBytes); !made)
    return made;
  const size_t storeBytes = mostRows * scalars->results.size() * sizeof(ScalarStore);
  if (auto made = remake(stores, world, storeBytes, /*isWritten=*/true); !made)
    return made;
  // It grows with the first run that counts: how much is no matter of this program alone.
  if (auto made = remake(counterList, world, 0); !made)
    return made;
  const size_t realBytes = doubles ? sizeof(double) : sizeof(float);
  return remake(slotTable, world, mostRows * scalars->slots.size() * realBytes);
}

Result<void> DeviceScalars::sendProgram(const DeviceWorld &world) {
  const auto constants = tableBytes(scalars->constants),
             operations = tableBytes(scalars->operations), slots = tableBytes(scalars->slots);
  std::vector<std::byte> bytes;
  for (auto part : {constants, operations, slots})
    bytes.insert(bytes.end(), part.begin(), part.end());
  if (auto made = remake(program, world, bytes.size()); !made)
    return made;
  const uint64_t at = program.address();
  arguments = {.operations = reinterpret_cast<const ScalarOperation *>(at + constants.size()),
               .constants = reinterpret_cast<const double *>(at),
               .slots = reinterpret_cast<const u32 *>(at + constants.size() + operations.size()),
               .operationCount = uint32_t(scalars->operations.size()),
               .constantCount = uint32_t(scalars->constants.size()),
               .slotCount = uint32_t(scalars->slots.size()),
               .inputCount = uint32_t(scalars->inputs.size()),
               .storeCount = uint32_t(scalars->results.size()),
               .countBy = 1,
               .skip = scalars->skip.value_or(ScalarsLaunch::NEVER)};
  return program.update(world, bytes, nullptr, false);
}

Result<void> DeviceScalars::prepare(const DeviceWorld &world, size_t rows,
                                    std::span<const ScalarSource> rowSources,
                                    std::span<const ScalarStore> rowStores,
                                    std::span<const ScalarCounter> counters,
                                    driver::CUstream stream, bool capturing) {
  if (auto updated = sources.update(world, std::as_bytes(rowSources), stream, capturing); !updated)
    return updated;
  if (auto updated = stores.update(world, std::as_bytes(rowStores), stream, capturing); !updated)
    return updated;
  if (auto updated = counterList.update(world, std::as_bytes(counters), stream, capturing);
      !updated)
    return updated;
  if (auto renewed = slotTable.renewFrozen(world); !renewed)
    return renewed;
  arguments.sources = reinterpret_cast<const ScalarSource *>(sources.address());
  arguments.stores = reinterpret_cast<ScalarStore *>(stores.address());
  arguments.counters = reinterpret_cast<const ScalarCounter *>(counterList.address());
  arguments.table = reinterpret_cast<void *>(slotTable.address());
  arguments.counterCount = uint32_t(counters.size());
  arguments.rows = uint32_t(rows);
  return {};
}

ScalarsLaunch DeviceScalars::takingBack() const {
  ScalarsLaunch back = arguments;
  back.rows = 0;
  back.countBy = -1;
  return back;
}

void DeviceScalars::freeze() {
  sources.freeze();
  stores.freeze();
  counterList.freeze();
  slotTable.freeze();
}

size_t DeviceScalars::workspaceBytes() const {
  return program.workspaceBytes() + sources.workspaceBytes() + stores.workspaceBytes() +
         counterList.workspaceBytes() + slotTable.workspaceBytes();
}

} // namespace fw::plan
