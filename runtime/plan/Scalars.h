// The scalars of a plan: per group, per run, per entry of a group, or in the device's memory.
#pragma once

#include "runtime/launch/Scalars.h"

#include <span>
#include <vector>

namespace fw::plan {

/// What one run reads. Refers to the caller's arrays and to the plan's, so it lives as long as the
/// run's call.
class RunScalars {
public:
  /// The source of a hyper for a group; `entry` of the group stands at `first + entry` in it.
  struct Found {
    const launch::ScalarSource &source;
    size_t first;
  };
  Found find(size_t group, size_t hyper) const;

  /// True when the entries of some of these groups have different values.
  bool variesByEntry(std::span<const size_t> groups) const;
  /// True when some group has a hyper in device memory.
  bool isOnDevice(size_t hyper) const;

  /// Values of all hypers for an entry of a group, in memory the host may read. Numbers in device
  /// memory are left out (0).
  void row(size_t group, size_t entry, std::span<double> out) const;

private:
  friend class PlanScalars;
  size_t hypers = 0;
  std::span<const std::vector<launch::ScalarSource>> groups;
  std::span<const size_t> firsts; ///< of each group's entries in the whole plan
  llvm::SmallVector<launch::ScalarSource, 16> overrides; ///< by hyper; Missing: the group's
};

class PlanScalars {
public:
  PlanScalars(std::vector<launch::Hyper> hypers, std::vector<size_t> groupLengths);

  /// Replaces what a group says; its defaults stay.
  Result<void> set(size_t group, const launch::ScalarArray &given);

  /// The sources of a run; USAGE where a hyper has none.
  Result<RunScalars> resolve(const launch::ScalarArray &given) const;

  /// True when some group says that a hyper is in device memory.
  bool isOnDevice(size_t hyper) const;

private:
  Result<void> checkShared(const RunScalars &run) const;

  std::vector<launch::Hyper> hypers;
  std::vector<size_t> lengths, firsts;
  std::vector<std::vector<launch::ScalarSource>> groups; ///< [group][hyper]
  std::vector<std::vector<std::vector<double>>> kept;    ///< [group]: copies of `values`
};

} // namespace fw::plan
