// A list of tensors made ready for many runs: what the C API's plans are.
#pragma once

#include "runtime/launch/Launch.h"
#include "runtime/plan/Scalars.h"

#include <memory>
#include <span>
#include <vector>

namespace fw::plan {

/// Groups of a plan, checked and free of empty entries.
struct Group {
  std::shared_ptr<const launch::Program> program;
  launch::TensorList list;
  size_t length = 0;                ///< entries that the caller gave, the empty ones too
  std::vector<size_t> entryOf = {}; ///< place in `list.entries` of each given entry; `none`: empty
  static constexpr size_t none = size_t(-1);
};

struct Stats {
  uint32_t launches = 0, exchanges = 0;
  uint64_t entries = 0, elements = 0, blocks = 0, streamedBytes = 0, workspaceBytes = 0;
};

/// Used by one thread at a time.
class Plan {
public:
  virtual ~Plan() = default;

  /// New addresses of an operand for all given entries of a group; of an operand with one value in
  /// all: one, for all groups.
  virtual Result<void> setPointers(size_t group, size_t operand,
                                   std::span<void *const> pointers) = 0;
  /// `world`: null where this is the only rank.
  virtual Result<void> run(const RunScalars &scalars, void *stream, const fw_world *world) = 0;
  virtual Stats stats() const = 0;
};

/// Checks the addresses that a caller gives for one operand of all given entries, or of all.
Result<void> checkPointers(const Group &group, size_t operand, std::span<void *const> pointers);
/// Writes them to the group's list.
void storePointers(Group &group, size_t operand, std::span<void *const> pointers);

/// The numbers that do not depend on where a plan runs.
Stats countGroups(std::span<const Group> groups);

/// USAGE where groups name other memory than the first for an operand with one value in all.
Result<void> checkSharedOperands(std::span<const Group> groups);

/// Asks the host to reduce `count` f64 numbers at `data` over all ranks, in place.
Result<void> allReduce(const fw_world &ranks, void *data, size_t count, const char *kind,
                       void *stream);

/// Runs the stages of all groups on the CPU, group after group.
std::unique_ptr<Plan> makeCpuPlan(std::vector<Group> groups, const launch::Executor &executor);

} // namespace fw::plan
