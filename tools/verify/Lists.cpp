#include "tools/verify/Lists.h"

#include "compiler/dialect/Dtypes.h"

namespace fw::verify {

ElementsList::ElementsList(const ResolvedRequest &request, const jit::LaunchRecord &launch,
                           const Case &data, const Arena &arena, uint64_t base)
    : data(data) {
  for (uint32_t k : launch.operands) {
    bytes.push_back(findDtype(request.operands[k].dtype)->bytes);
    auto &column = addresses.emplace_back();
    for (size_t t = 0; t < data.sizes.size(); ++t)
      column.push_back(base + arena.offset(k, t));
  }
  rule = {uint64_t(launch.chunk), uint32_t(launch.vec), bytes};
}

std::vector<uint64_t> ElementsList::addressesOf(size_t tensor) const {
  std::vector<uint64_t> row;
  for (const auto &column : addresses)
    row.push_back(column[tensor]);
  return row;
}

std::vector<Chunk> ElementsList::chunks(bool byEntry, size_t rows) const {
  constexpr uint32_t unused = ~uint32_t(0); // a kernel that reads it leaves every table
  std::vector<plan::ListSegment> list;
  for (size_t t = 0; t < data.sizes.size(); ++t)
    list.push_back({.count = data.sizes[t],
                    .segment = uint32_t(t),
                    .group = byEntry ? unused : rowOf(t, rows),
                    .entry = byEntry ? rowOf(t, rows) : unused});
  const std::vector<std::span<const uint64_t>> columns(addresses.begin(), addresses.end());
  return plan::planChunks(list, columns, rule);
}

std::vector<uint32_t> ElementsList::firstChunks(const std::vector<Chunk> &chunks) const {
  std::vector<uint32_t> first(data.sizes.size() + 1);
  for (const Chunk &chunk : chunks)
    ++first[chunk.segment + 1];
  for (size_t t = 0; t < data.sizes.size(); ++t)
    first[t + 1] += first[t];
  return first;
}

uint64_t ElementsList::fillSegments(plan::ElementsArguments &arguments, size_t rows) const {
  uint64_t blocks = 0;
  uint32_t count = 0;
  for (size_t t = 0; t < data.sizes.size(); ++t) {
    if (data.sizes[t] == 0)
      continue;
    auto row = addressesOf(t);
    Segment segment{.count = data.sizes[t],
                    .head = plan::headOf(data.sizes[t], row, rule),
                    .firstBlock = uint32_t(blocks),
                    .row = rowOf(t, rows),
                    .reserved = 0};
    arguments.segment(count++, segment, row);
    blocks += plan::blocksOf(segment, rule.chunk);
  }
  arguments.segmentCount(count);
  return blocks;
}

} // namespace fw::verify
