// The groups of a plan that share a program, as its launches walk them. Pure.
#pragma once

#include "runtime/plan/Plan.h"
#include "runtime/plan/Segments.h"

namespace fw::plan {

/// The group and the entry (in the caller's order) whose scalars a row holds.
struct RowPlace {
  size_t group = 0;
  size_t entry = 0;
};

/// Rows are numbered inside one program. A group without entries has a row all the same: a step
/// has scalars even where it has no tensor.
struct ProgramLists {
  const launch::Program *program = nullptr;
  std::vector<size_t> groups;         ///< in the plan
  std::vector<RowPlace> groupRows;    ///< where each group has one row of scalars
  std::vector<RowPlace> entryRows;    ///< where each entry, the empty ones too, has its own
  std::vector<double> sizes;          ///< elements, by entry row
  size_t firstRow = 0;                ///< entry rows of the programs before this one
  std::vector<SegmentPlace> segments; ///< of all groups
  std::vector<size_t> firstSegments;  ///< by group, with end
  std::vector<uint32_t> segmentRows;  ///< entry row of each segment
  /// By group: addresses come as segments have them, an entry a segment and none empty.
  std::vector<bool> isDirect;
  uint64_t elements = 0;

  /// Place of a plan's group in `groups`; their count where it is none of them.
  size_t find(size_t group) const;
};

/// The lists of the groups at `chosen`, all of one program.
ProgramLists collectLists(std::span<const Group> groups, std::vector<size_t> chosen,
                          size_t firstRow);

} // namespace fw::plan
