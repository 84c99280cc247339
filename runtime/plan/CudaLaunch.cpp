#include "runtime/plan/CudaLaunch.h"

#include "compiler/support/FloatMode.h"

#include <algorithm>
#include <utility>

namespace fw::plan {
namespace {

/// From here on the loads of a launch are marked to stay in the L2 longest: 2-5 % on an H200
/// (docs/rationale/elements-schedule.md).
constexpr uint64_t evictLastBytes = uint64_t(64) << 20;

bool hasASegmentForEachGiven(const Group &group) {
  return group.list.entries.size() == group.length &&
         std::ranges::all_of(group.list.entries,
                             [](const launch::Entry &entry) { return entry.loops.empty(); });
}

/// Bits in which a column differs from what it gets.
uint64_t exchange(std::span<uint64_t> column, std::span<void *const> pointers) {
  uint64_t changed = 0;
  for (size_t s = 0; s < column.size(); ++s) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointers[s]);
    changed |= address ^ column[s];
    column[s] = address;
  }
  return changed;
}

} // namespace

uint64_t policyFor(uint64_t streamedBytes) {
  return streamedBytes >= evictLastBytes ? L2::EVICT_LAST : L2::NORMAL;
}

Result<void> checkBlocks(uint64_t blocks) {
  constexpr uint64_t most = (uint64_t(1) << 31) - 1; // of a grid's first dimension
  if (blocks <= most)
    return {};
  return Error{Code::USAGE,
               "expected at most 2^31 - 1 blocks of a launch, got " + std::to_string(blocks),
               "split the list"};
}

CudaLaunch::CudaLaunch(const DeviceWorld &world, const CudaKernel &kernel,
                       std::vector<size_t> chosen)
    : world(world), kernel(kernel), groupNumbers(std::move(chosen)),
      arguments(int(kernel.operands.size()), int(kernel.slots), kernel.doubleScalars) {}

Result<std::unique_ptr<CudaLaunch>> CudaLaunch::make(const DeviceWorld &world,
                                                     const CudaKernel &kernel,
                                                     std::span<const Group> groups,
                                                     std::vector<size_t> chosen) {
  std::unique_ptr<CudaLaunch> made(new CudaLaunch(world, kernel, std::move(chosen)));
  auto function = kernel.module.load(*world.driver, *world.modules);
  if (!function)
    return function.takeError();
  made->function = *function;
  made->collect(groups);
  if (Result<void> planned = made->planBlocks(); !planned)
    return planned.takeError();
  if (Result<void> allocated = made->allocate(); !allocated)
    return allocated.takeError();
  if (Result<void> updated = made->updateTables(nullptr, false); !updated)
    return updated.takeError();
  return made;
}

void CudaLaunch::collect(std::span<const Group> groups) {
  uint64_t streamed = 0;
  for (size_t g : groupNumbers) {
    const Group &group = groups[g];
    groupRows.push_back({g, 0});
    isDirect.push_back(hasASegmentForEachGiven(group));
    firstEntries.push_back(entryRows.size());
    for (const launch::Entry &entry : group.list.entries) {
      entryRows.push_back({g, entry.position});
      streamed +=
          uint64_t(entry.elements) * uint64_t(launch::bytesPerElement(group.program->operands));
    }
    firstSegments.push_back(segments.size());
    appendSegments(group.list, g, segments);
  }
  firstSegments.push_back(segments.size());
  arguments.policy(policyFor(streamed));
  addresses.resize(kernel.operands.size());
  stale.assign(kernel.operands.size(), true);
  for (size_t k = 0; k < kernel.operands.size(); ++k)
    for (const SegmentPlace &segment : segments)
      addresses[k].push_back(addressOf(groups[segment.group].list, segment, kernel.operands[k]));
}

Result<void> CudaLaunch::planBlocks() {
  std::vector<ListSegment> list;
  list.reserve(segments.size());
  size_t local = 0;
  for (size_t s = 0; s < segments.size(); ++s) {
    while (s >= firstSegments[local + 1])
      ++local;
    list.push_back({.count = segments[s].count,
                    .segment = uint32_t(s),
                    .group = uint32_t(local),
                    .entry = uint32_t(firstEntries[local] + segments[s].entry)});
  }
  chunks = planChunks(list, addresses, {kernel.chunk, kernel.vec, kernel.bytes});
  staleChunks = true;
  return checkBlocks(chunks.size());
}

Result<void> CudaLaunch::allocate() {
  // A change of alignment moves heads, which adds at most one block to a segment.
  const size_t mostChunks = chunks.size() + segments.size();
  auto make = [&](auto &table, size_t bytes) -> Result<void> {
    auto made = table.make(world, bytes);
    if (!made)
      return made.takeError();
    table = std::move(*made);
    return {};
  };
  if (Result<void> made = make(chunkTable, mostChunks * sizeof(Chunk)); !made)
    return made;
  columns.resize(addresses.size());
  for (DeviceTable &column : columns)
    if (Result<void> made = make(column, segments.size() * sizeof(uint64_t)); !made)
      return made;
  const size_t rows = std::max(entryRows.size(), groupRows.size());
  return make(rowTable, rows > arguments.rowRoom() ? rows * kernel.rowBytes() : 0);
}

Result<void> CudaLaunch::updateTables(driver::CUstream stream, bool capturing) {
  if (staleChunks) {
    if (auto updated = chunkTable.update(world, tableBytes(chunks), stream, capturing); !updated)
      return updated;
    arguments.chunks(chunkTable.address());
    staleChunks = false;
  }
  for (size_t k = 0; k < columns.size(); ++k)
    if (stale[k]) {
      if (auto updated = columns[k].update(world, tableBytes(addresses[k]), stream, capturing);
          !updated)
        return updated;
      arguments.column(int(k), columns[k].address());
      stale[k] = false;
    }
  return {};
}

Result<void> CudaLaunch::repoint(std::span<Group> groups, size_t group, size_t operand,
                                 std::span<void *const> pointers) {
  auto place = std::ranges::find(groupNumbers, group);
  auto column = std::ranges::find(kernel.operands, operand);
  if (place == groupNumbers.end() || column == kernel.operands.end())
    return {};
  const size_t k = size_t(column - kernel.operands.begin());
  const size_t local = size_t(place - groupNumbers.begin());
  const size_t first = firstSegments[local];
  const std::span<uint64_t> places(addresses[k].data() + first, firstSegments[local + 1] - first);
  uint64_t changed = 0;
  if (isDirect[local]) {
    changed = exchange(places, pointers);
  } else {
    storePointers(groups[group], operand, pointers);
    for (size_t s = 0; s < places.size(); ++s) {
      const uint64_t address = addressOf(groups[group].list, segments[first + s], operand);
      changed |= address ^ std::exchange(places[s], address);
    }
  }
  stale[k] = stale[k] || changed != 0;
  // Heads are planned for the alignment that addresses had.
  constexpr uint64_t vectorBytes = 16;
  return changed % vectorBytes != 0 ? planBlocks() : Result<void>();
}

Result<void> CudaLaunch::hostRows(const launch::Program &program, const RunScalars &scalars,
                                  std::span<const RowPlace> rows, driver::CUstream stream,
                                  bool capturing) {
  hyperValues.resize(program.hypers.size());
  slotValues.resize(kernel.slots * rows.size());
  std::span<double> slots = slotValues;
  {
    StandardFloatMode mode;
    for (size_t r = 0; r < rows.size(); ++r) {
      scalars.row(rows[r].group, rows[r].entry, hyperValues);
      program.scalarProgram(hyperValues, slots.subspan(r * kernel.slots, kernel.slots));
    }
  }
  if (rows.size() <= arguments.rowRoom()) {
    arguments.rows(slots);
    arguments.scalars(0);
    return {};
  }
  if (auto updated = rowTable.update(world, arguments.packRows(slots), stream, capturing); !updated)
    return updated;
  arguments.scalars(rowTable.address());
  return {};
}

Result<void> CudaLaunch::deviceRows(const RunScalars &scalars, std::span<const RowPlace> rows,
                                    std::span<const ScalarCounter> counters,
                                    driver::CUstream stream, bool capturing) {
  if (!prologue) {
    auto made = Prologue::make(world, kernel, std::max(entryRows.size(), groupRows.size()));
    if (!made)
      return made.takeError();
    prologue = std::move(*made);
  }
  if (auto ready = prologue->prepare(world, scalars, rows, counters, stream, capturing); !ready)
    return ready;
  arguments.scalars(prologue->table());
  usesPrologue = true;
  return {};
}

Result<void> CudaLaunch::prepare(std::span<const Group> groups, const RunScalars &scalars,
                                 std::span<const ScalarCounter> counters, driver::CUstream stream,
                                 bool capturing) {
  if (Result<void> updated = updateTables(stream, capturing); !updated)
    return updated;
  usesPrologue = hasCounted = false;
  if (kernel.slots > 0 || !counters.empty()) {
    const bool byEntry = scalars.variesByEntry(groupNumbers);
    std::span<const RowPlace> rows = byEntry ? entryRows : groupRows;
    arguments.perEntry(byEntry);
    Result<void> ready =
        scalars.readsDevice()
            ? deviceRows(scalars, rows, counters, stream, capturing)
            : hostRows(*groups[groupNumbers.front()].program, scalars, rows, stream, capturing);
    if (!ready)
      return ready;
  }
  if (capturing)
    freeze();
  return {};
}

void CudaLaunch::freeze() {
  chunkTable.freeze();
  rowTable.freeze();
  for (DeviceTable &column : columns)
    column.freeze();
  if (prologue)
    prologue->freeze();
}

Result<void> CudaLaunch::launch(driver::CUstream stream) {
  if (usesPrologue) {
    if (Result<void> launched = prologue->launch(world, stream); !launched)
      return launched;
    hasCounted = true;
  }
  if (chunks.empty())
    return {};
  ++*world.launches;
  void *parameters[] = {arguments.data()};
  return driver::check(*world.driver,
                       world.driver->cu().launchKernel(function, unsigned(chunks.size()), 1, 1,
                                                       kernel.threads, 1, 1, 0, stream, parameters,
                                                       nullptr),
                       "launching a kernel");
}

Result<void> CudaLaunch::takeBack(driver::CUstream stream) {
  return hasCounted ? prologue->takeBack(world, stream) : Result<void>();
}

size_t CudaLaunch::workspaceBytes() const {
  size_t bytes = chunkTable.workspaceBytes() + rowTable.workspaceBytes();
  for (const DeviceTable &column : columns)
    bytes += column.workspaceBytes();
  return bytes + (prologue ? prologue->workspaceBytes() : 0);
}

} // namespace fw::plan
