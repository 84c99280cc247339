// The reductions of a stage that all ranks have in common: their exchange in device memory.
#pragma once

#include "runtime/plan/StageScalars.h"

namespace fw::plan {

/// Does not move: tables refer to its programs.
class WorldExchange {
public:
  /// `first`: number of the stage's first reduction. Null where none keeps the world.
  static Result<std::unique_ptr<WorldExchange>>
  make(const DeviceWorld &world, std::span<const launch::Reduction> reductions, size_t first);

  /// `reduced` says where the results of this rank are; from here on, where those of all ranks are.
  Result<void> prepare(const DeviceWorld &world, std::span<ReducedPlace> reduced,
                       driver::CUstream stream, bool capturing);
  /// Runs before the exchange: puts the results of this rank side by side, minima negated.
  const DeviceScalars &gathering() const { return gather; }
  const jit::ScalarProgram &gatherProgram() const { return gatherScalars; }
  /// The host's collectives, and what must follow them.
  Result<void> run(const DeviceWorld &world, const ScalarsKernel &kernel, const fw_world &ranks,
                   driver::CUstream stream);
  /// Of kernels, beside the gathering.
  uint32_t launchCount() const { return restores() ? 1 : 0; }

  void freeze();
  size_t workspaceBytes() const;

private:
  WorldExchange() = default;
  void addReduction(size_t number, launch::Reduction::Kind kind);
  bool restores() const { return !minima.empty(); }

  std::vector<size_t> numbers; ///< sums, then maxima, then minima: numbers of the reductions
  std::vector<size_t> minima;
  size_t sumCount = 0;
  jit::ScalarProgram gatherScalars, restoreScalars;
  DeviceScalars gather, restore; ///< minima are negated and back, since hosts know max alone
  std::vector<ScalarSource> sources;
};

} // namespace fw::plan
