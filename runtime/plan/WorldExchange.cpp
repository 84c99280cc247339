#include "runtime/plan/WorldExchange.h"

namespace fw::plan {

using Kind = launch::Reduction::Kind;
using Input = jit::ScalarInput;

namespace {

ScalarSource sourceAt(const ReducedPlace &place) {
  return {.address = place.address, .type = ScalarType::F64, .advance = 0, .value = place.neutral};
}

} // namespace

Result<std::unique_ptr<WorldExchange>>
WorldExchange::make(const DeviceWorld &world, std::span<const launch::Reduction> reductions,
                    size_t first) {
  std::unique_ptr<WorldExchange> made(new WorldExchange);
  for (Kind kind : {Kind::Sum, Kind::Max, Kind::Min})
    for (size_t r = 0; r < reductions.size(); ++r)
      if (reductions[r].keep == launch::Reduction::Keep::World && reductions[r].kind == kind)
        made->addReduction(first + r, kind);
  if (made->numbers.empty())
    return std::unique_ptr<WorldExchange>();
  const uint32_t plain = uint32_t(made->numbers.size() - made->minima.size());
  for (uint32_t i = 0; i < made->numbers.size(); ++i)
    made->gatherScalars.slot(i < plain ? i : made->gatherScalars.operation(jit::ScalarCode::neg, i),
                             "");
  for (uint32_t i = 0; i < made->minima.size(); ++i)
    made->restoreScalars.slot(made->restoreScalars.operation(jit::ScalarCode::neg, i), "");
  auto gather = DeviceScalars::make(world, made->gatherScalars, 1, true);
  if (!gather)
    return gather.takeError();
  made->gather = std::move(*gather);
  if (made->restores()) {
    auto restore = DeviceScalars::make(world, made->restoreScalars, 1, true);
    if (!restore)
      return restore.takeError();
    made->restore = std::move(*restore);
  }
  return made;
}

void WorldExchange::addReduction(size_t number, Kind kind) {
  gatherScalars.input(Input::Kind::Reduction, uint32_t(number));
  numbers.push_back(number);
  sumCount += kind == Kind::Sum;
  if (kind != Kind::Min)
    return;
  restoreScalars.input(Input::Kind::Reduction, uint32_t(number));
  minima.push_back(number);
}

Result<void> WorldExchange::prepare(const DeviceWorld &world, std::span<ReducedPlace> reduced,
                                    driver::CUstream stream, bool capturing) {
  sources.clear();
  for (size_t number : numbers)
    sources.push_back(sourceAt(reduced[number]));
  if (auto ready = gather.prepare(world, 1, sources, {}, {}, stream, capturing); !ready)
    return ready;
  for (size_t i = 0; i < numbers.size(); ++i)
    reduced[numbers[i]] = {.address = gather.table() + i * sizeof(double)};
  if (!restores())
    return {};
  sources.clear();
  for (size_t number : minima)
    sources.push_back(sourceAt(reduced[number]));
  if (auto ready = restore.prepare(world, 1, sources, {}, {}, stream, capturing); !ready)
    return ready;
  for (size_t i = 0; i < minima.size(); ++i)
    reduced[minima[i]] = {.address = restore.table() + i * sizeof(double)};
  return {};
}

Result<void> WorldExchange::run(const DeviceWorld &world, const ScalarsKernel &kernel,
                                const fw_world &ranks, driver::CUstream stream) {
  auto *data = reinterpret_cast<double *>(gather.table());
  if (sumCount)
    if (Result<void> done = allReduce(ranks, data, sumCount, "sum", stream); !done)
      return done;
  if (const size_t others = numbers.size() - sumCount)
    if (Result<void> done = allReduce(ranks, data + sumCount, others, "max", stream); !done)
      return done;
  return restores() ? kernel.launch(world, restore.launch(), stream) : Result<void>();
}

void WorldExchange::freeze() {
  gather.freeze();
  restore.freeze();
}

size_t WorldExchange::workspaceBytes() const {
  return gather.workspaceBytes() + restore.workspaceBytes();
}

} // namespace fw::plan
