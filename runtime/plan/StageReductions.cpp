#include "runtime/plan/StageReductions.h"

#include <algorithm>

namespace fw::plan {
namespace {

constexpr uint32_t noTicket = 0; // before and behind every launch
const std::span<const std::byte> ticketBytes = std::as_bytes(std::span(&noTicket, 1));

bool keepsTensor(const launch::Reduction &reduction) {
  return reduction.keep == launch::Reduction::Keep::Tensor;
}

} // namespace

Result<StageReductions> StageReductions::make(const DeviceWorld &world,
                                              std::span<const launch::Reduction> reductions,
                                              std::vector<ReducingLaunch> launches,
                                              size_t entryRows) {
  StageReductions made;
  made.reductions.assign(reductions.begin(), reductions.end());
  made.launches = std::move(launches);
  if (std::ranges::any_of(reductions, keepsTensor))
    made.entries = entryRows;
  size_t mostPartials = 0, mostPrograms = made.launches.size();
  for (const ReducingLaunch &part : made.launches)
    mostPartials += part.launch ? part.launch->mostBlocks() : 0;
  if (Result<void> fit = checkBlocks(mostPartials); !fit)
    return fit.takeError();
  const size_t columns = std::max<size_t>(made.entries, 1);
  struct {
    DeviceTable &table;
    size_t bytes;
  } const tables[] = {{made.partials, reductions.size() * mostPartials * sizeof(double)},
                      {made.results, reductions.size() * columns * sizeof(double)},
                      {made.ticket, ticketBytes.size()}};
  for (auto &each : tables)
    if (auto table = remake(each.table, world, each.bytes); !table)
      return table.takeError();
  if (auto sent = made.ticket.update(world, ticketBytes, nullptr, false); !sent)
    return sent.takeError();
  const size_t places = made.entries ? made.entries + 1 : 0;
  if (auto table = remake(made.firstPartialTable, world, places * sizeof(uint32_t)); !table)
    return table.takeError();
  if (auto table = remake(made.programTable, world, mostPrograms * sizeof(ScalarsLaunch)); !table)
    return table.takeError();
  return made;
}

void StageReductions::countPartials() {
  uint32_t cuts = 0;
  for (const ReducingLaunch &part : launches)
    cuts += part.launch ? part.launch->cuts() : 0;
  if (cuts == countedCuts)
    return;
  countedCuts = cuts;
  firstPartials.assign(entries ? entries + 1 : 0, 0);
  offsets.assign(1, 0);
  for (const ReducingLaunch &part : launches) {
    const std::span<const Chunk> records =
        part.launch ? part.launch->records() : std::span<const Chunk>();
    for (const Chunk &record : records)
      if (entries)
        ++firstPartials[part.firstRow + record.entry + 1];
    offsets.push_back(offsets.back() + uint32_t(records.size()));
  }
  for (size_t entry = 1; entry < firstPartials.size(); ++entry)
    firstPartials[entry] += firstPartials[entry - 1];
}

Result<void> StageReductions::prepare(const DeviceWorld &world, driver::CUstream stream,
                                      bool capturing) {
  countPartials();
  if (auto renewed = partials.renewFrozen(world); !renewed)
    return renewed;
  if (auto renewed = results.renewFrozen(world); !renewed)
    return renewed;
  if (auto renewed = ticket.renewFrozen(world, ticketBytes); !renewed)
    return renewed;
  return firstPartialTable.update(world, tableBytes(firstPartials), stream, capturing);
}

ReducedPlace StageReductions::place(size_t r) const {
  return {.address = results.address() + r * std::max<size_t>(entries, 1) * sizeof(double),
          .neutral = 0,
          .perEntry = keepsTensor(reductions[r])};
}

Result<void> StageReductions::setTails(const DeviceWorld &world, size_t last,
                                       std::span<const ScalarsLaunch> programs,
                                       driver::CUstream stream, bool capturing) {
  if (auto updated = programTable.update(world, std::as_bytes(programs), stream, capturing);
      !updated)
    return updated;
  ReduceTail tail{
      .partials = reinterpret_cast<double *>(partials.address()),
      .results = reinterpret_cast<double *>(results.address()),
      .firstPartial = reinterpret_cast<const u32 *>(firstPartialTable.address()),
      .ticket = reinterpret_cast<u32 *>(ticket.address()),
      .programs = reinterpret_cast<const ScalarsLaunch *>(programTable.address()),
      .partialCount = offsets.back(),
      .partialOffset = 0,
      .entries = uint32_t(entries),
      .programCount = uint32_t(programs.size()),
      .isLast = 0,
      .reserved = 0,
  };
  for (size_t p = 0; p < launches.size(); ++p)
    if (launches[p].launch) {
      tail.partialOffset = offsets[p];
      tail.isLast = p == last;
      launches[p].launch->setTail(tail);
    }
  return {};
}

void StageReductions::freeze() {
  partials.freeze();
  results.freeze();
  ticket.freeze();
  firstPartialTable.freeze();
  programTable.freeze();
}

size_t StageReductions::workspaceBytes() const {
  return partials.workspaceBytes() + results.workspaceBytes() + ticket.workspaceBytes() +
         firstPartialTable.workspaceBytes() + programTable.workspaceBytes();
}

} // namespace fw::plan
