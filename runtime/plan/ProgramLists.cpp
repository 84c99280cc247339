#include "runtime/plan/ProgramLists.h"

#include <algorithm>

namespace fw::plan {
namespace {

bool hasASegmentForEachGiven(const Group &group) {
  return group.list.entries.size() == group.length &&
         std::ranges::all_of(group.list.entries,
                             [](const launch::Entry &entry) { return entry.loops.empty(); });
}

void addGroup(ProgramLists &lists, const Group &group, size_t number) {
  const size_t firstRow = lists.entryRows.size(), firstSegment = lists.segments.size();
  lists.groupRows.push_back({number, 0});
  for (size_t entry = 0; entry < std::max<size_t>(group.length, 1); ++entry)
    lists.entryRows.push_back({number, entry});
  lists.sizes.resize(lists.entryRows.size());
  for (const launch::Entry &entry : group.list.entries) {
    lists.sizes[firstRow + entry.position] = double(entry.elements);
    lists.elements += uint64_t(entry.elements);
  }
  lists.isDirect.push_back(hasASegmentForEachGiven(group));
  lists.firstSegments.push_back(firstSegment);
  appendSegments(group.list, number, lists.segments);
  for (size_t s = firstSegment; s < lists.segments.size(); ++s)
    lists.segmentRows.push_back(
        uint32_t(firstRow + group.list.entries[lists.segments[s].entry].position));
}

} // namespace

size_t ProgramLists::find(size_t group) const {
  return size_t(std::ranges::find(groups, group) - groups.begin());
}

ProgramLists collectLists(std::span<const Group> groups, std::vector<size_t> chosen,
                          size_t firstRow) {
  ProgramLists lists;
  lists.program = groups[chosen.front()].program.get();
  lists.groups = std::move(chosen);
  lists.firstRow = firstRow;
  for (size_t g : lists.groups)
    addGroup(lists, groups[g], g);
  lists.firstSegments.push_back(lists.segments.size());
  return lists;
}

} // namespace fw::plan
