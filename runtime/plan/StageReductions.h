// What the reducing kernels of one stage share, one kernel per program: their partials, the results
// and the scalar programs that the last block runs.
#pragma once

#include "runtime/plan/CudaLaunch.h"
#include "runtime/plan/StageScalars.h"

namespace fw::plan {

/// A program's part; `launch` is null where it has no block.
struct ReducingLaunch {
  CudaLaunch *launch = nullptr;
  size_t firstRow = 0; ///< of its entries, among those of the plan
};

class StageReductions {
public:
  /// Some launch must have a block.
  static Result<StageReductions> make(const DeviceWorld &world,
                                      std::span<const launch::Reduction> reductions,
                                      std::vector<ReducingLaunch> launches, size_t entryRows);

  /// Memory that no graph has, and where the partials of each entry are.
  Result<void> prepare(const DeviceWorld &world, driver::CUstream stream, bool capturing);
  /// Of reduction `r` of the stage.
  ReducedPlace place(size_t r) const;
  /// The launch of program `last` finishes, and runs these.
  Result<void> setTails(const DeviceWorld &world, size_t last,
                        std::span<const ScalarsLaunch> programs, driver::CUstream stream,
                        bool capturing);

  void freeze();
  size_t workspaceBytes() const;

private:
  void countPartials();

  std::vector<launch::Reduction> reductions;
  std::vector<ReducingLaunch> launches; ///< by program
  size_t entries = 0;                   ///< rows that have results of their own; 0: none has
  std::vector<uint32_t> firstPartials;  ///< by entry, with end
  std::vector<uint32_t> offsets;        ///< of each launch's partials, with end
  uint32_t countedCuts = 0;             ///< of the launches that these two were counted for
  DeviceTable partials, results, ticket;
  MirroredTable firstPartialTable, programTable;
};

} // namespace fw::plan
