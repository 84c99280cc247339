#include "runtime/plan/Prologue.h"

#include "compiler/jit/ScalarProgram.h"

#include <algorithm>
#include <cstring>

namespace fw::plan {
namespace {

using launch::Number;
using Kind = launch::ScalarSource::Kind;

ScalarType typeOf(Number number) {
  switch (number) {
  case Number::f32:
    return ScalarType::F32;
  case Number::f64:
    return ScalarType::F64;
  case Number::i32:
    return ScalarType::I32;
  case Number::i64:
    break;
  }
  return ScalarType::I64;
}

uint64_t addressOf(const launch::ScalarSource &source, size_t index) {
  return reinterpret_cast<uint64_t>(source.data) + index * launch::bytesOf(source.type);
}

ScalarSource sourceOf(RunScalars::Found found, size_t entry) {
  const launch::ScalarSource &source = found.source;
  if (source.kind == Kind::Values)
    return {.address = 0,
            .type = ScalarType::F64,
            .advance = 0,
            .value = source.values[found.first + entry]};
  if (source.kind == Kind::Value)
    return {.address = 0, .type = ScalarType::F64, .advance = 0, .value = source.value};
  const size_t index = source.count > 1 ? found.first + entry : 0;
  return {.address = addressOf(source, index),
          .type = typeOf(source.type),
          .advance = source.advance,
          .value = 0};
}

} // namespace

std::vector<ScalarCounter> countersOf(const RunScalars &scalars, size_t groups, size_t hypers) {
  std::vector<ScalarCounter> counters;
  for (size_t h = 0; h < hypers; ++h)
    for (size_t g = 0; g < groups; ++g) {
      const launch::ScalarSource &source = scalars.find(g, h).source;
      for (size_t i = 0; source.advance && i < source.count; ++i)
        counters.push_back(
            {.address = addressOf(source, i), .type = typeOf(source.type), .reserved = 0});
    }
  auto before = [](const ScalarCounter &a, const ScalarCounter &b) {
    return a.address < b.address;
  };
  auto same = [](const ScalarCounter &a, const ScalarCounter &b) { return a.address == b.address; };
  std::ranges::sort(counters, before);
  counters.erase(std::unique(counters.begin(), counters.end(), same), counters.end());
  return counters;
}

Result<Prologue> Prologue::make(const DeviceWorld &world, const CudaKernel &kernel,
                                size_t mostRows) {
  const jit::ScalarProgram &scalars = *kernel.scalars;
  if (ScalarsLaunch::lanes(uint32_t(scalars.inputs.size()), uint32_t(scalars.operations.size())) ==
      0)
    return Error{
        Code::USAGE,
        "expected scalars in device memory of an op with fewer operations on scalars, got " +
            std::to_string(scalars.operations.size()),
        "pass host values"};
  Result<driver::Module *> module = world.scalarsModule();
  if (!module)
    return module.takeError();
  auto function = (*module)->load(*world.driver, *world.modules);
  if (!function)
    return function.takeError();

  Prologue made;
  made.kernel = &kernel;
  made.function = *function;
  if (Result<void> allocated = made.allocate(world, mostRows); !allocated)
    return allocated.takeError();
  if (Result<void> sent = made.sendProgram(world); !sent)
    return sent.takeError();
  return made;
}

Result<void> Prologue::allocate(const DeviceWorld &world, size_t mostRows) {
  auto make = [&](auto &table, size_t bytes) -> Result<void> {
    auto made = table.make(world, bytes);
    if (!made)
      return made.takeError();
    table = std::move(*made);
    return {};
  };
  const jit::ScalarProgram &scalars = *kernel->scalars;
  const size_t sourceBytes = mostRows * scalars.inputs.size() * sizeof(ScalarSource);
  if (Result<void> made = make(sources, sourceBytes); !made)
    return made;
  // It grows with the first run that counts: how much is no matter of this launch alone.
  if (Result<void> made = make(counterList, 0); !made)
    return made;
  return make(results, mostRows * kernel->rowBytes());
}

Result<void> Prologue::sendProgram(const DeviceWorld &world) {
  const jit::ScalarProgram &scalars = *kernel->scalars;
  const auto constants = tableBytes(scalars.constants), operations = tableBytes(scalars.operations),
             slots = tableBytes(scalars.slots);
  std::vector<std::byte> bytes;
  for (auto part : {constants, operations, slots})
    bytes.insert(bytes.end(), part.begin(), part.end());
  auto table = DeviceTable::make(world, bytes.size());
  if (!table)
    return table.takeError();
  program = std::move(*table);
  const uint64_t at = program.address();
  arguments = {.operations = reinterpret_cast<const ScalarOperation *>(at + constants.size()),
               .constants = reinterpret_cast<const double *>(at),
               .slots = reinterpret_cast<const u32 *>(at + constants.size() + operations.size()),
               .table = reinterpret_cast<void *>(results.address()),
               .operationCount = uint32_t(scalars.operations.size()),
               .constantCount = uint32_t(scalars.constants.size()),
               .slotCount = uint32_t(scalars.slots.size()),
               .inputCount = uint32_t(scalars.inputs.size()),
               .doubles = kernel->doubleScalars,
               .countBy = 1};
  return program.update(world, bytes, nullptr, false);
}

Result<void> Prologue::prepare(const DeviceWorld &world, const RunScalars &scalars,
                               std::span<const RowPlace> rows,
                               std::span<const ScalarCounter> counters, driver::CUstream stream,
                               bool capturing) {
  std::vector<ScalarSource> wanted;
  wanted.reserve(rows.size() * kernel->scalarInputs.size());
  for (const RowPlace &row : rows)
    for (size_t hyper : kernel->scalarInputs)
      wanted.push_back(sourceOf(scalars.find(row.group, hyper), row.entry));
  if (auto updated = sources.update(world, tableBytes(wanted), stream, capturing); !updated)
    return updated;
  if (auto updated = counterList.update(world, std::as_bytes(counters), stream, capturing);
      !updated)
    return updated;
  arguments.sources = reinterpret_cast<const ScalarSource *>(sources.address());
  arguments.counters = reinterpret_cast<const ScalarCounter *>(counterList.address());
  arguments.rows = uint32_t(rows.size());
  arguments.counterCount = uint32_t(counters.size());
  return {};
}

Result<void> Prologue::launch(const DeviceWorld &world, driver::CUstream stream) {
  return launch(world, arguments, stream);
}

Result<void> Prologue::takeBack(const DeviceWorld &world, driver::CUstream stream) {
  if (arguments.counterCount == 0)
    return {};
  ScalarsLaunch back = arguments;
  back.rows = 0;
  back.countBy = -1;
  return launch(world, back, stream);
}

Result<void> Prologue::launch(const DeviceWorld &world, ScalarsLaunch launch,
                              driver::CUstream stream) {
  void *parameters[] = {&launch};
  ++*world.launches;
  return driver::check(*world.driver,
                       world.driver->cu().launchKernel(function, 1, 1, 1, ScalarsLaunch::THREADS, 1,
                                                       1, ScalarsLaunch::SHARED_BYTES, stream,
                                                       parameters, nullptr),
                       "launching fw_scalars");
}

void Prologue::freeze() {
  sources.freeze();
  counterList.freeze();
}

size_t Prologue::workspaceBytes() const {
  return program.workspaceBytes() + sources.workspaceBytes() + counterList.workspaceBytes() +
         results.workspaceBytes();
}

} // namespace fw::plan
