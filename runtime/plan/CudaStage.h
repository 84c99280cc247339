// One stage of a plan: the scalar programs and kernels of all its programs.
#pragma once

#include "runtime/plan/StageReductions.h"
#include "runtime/plan/WorldExchange.h"

namespace fw::plan {

/// A program of a plan and its groups. Does not move.
struct PlanProgram {
  PlanProgram(const CudaProgram &program, std::span<const Group> groups, std::vector<size_t> chosen,
              size_t firstRow);

  const CudaProgram &cuda;
  const ProgramLists lists;
  AddressColumns columns;
};
using PlanPrograms = std::vector<std::unique_ptr<PlanProgram>>;

/// Who computes the scalars of a stage in a run.
enum class ScalarsBy {
  NOBODY,     ///< nobody reads or writes any
  HOST,       ///< before the run
  LAST_BLOCK, ///< of the kernels of the stage before
  LAUNCH      ///< fw_scalars
};

/// The stream of a run.
struct RunStream {
  driver::CUstream stream = nullptr;
  bool capturing = false;
};

class CudaStage {
public:
  /// Makes stage `number` of programs that reduce alike; `before`: the stage in front, or null.
  static Result<std::unique_ptr<CudaStage>> make(const DeviceWorld &world,
                                                 const PlanPrograms &programs, size_t number,
                                                 size_t firstReduction, CudaStage *before);

  /// `isOnDevice`: of a hyper, that some group has it in device memory. `exchanges`: whether the
  /// stage before does.
  ScalarsBy scalarsBy(const std::function<bool(size_t hyper)> &isOnDevice, bool counts,
                      bool exchanges) const;
  /// Memory for scalars on the device, which a run would make too.
  Result<void> allocateScalars(const DeviceWorld &world);

  /// Tables of kernels; `reduced` gets the places of what they reduce.
  Result<void> prepareKernels(const DeviceWorld &world, RunStream run,
                              std::vector<ReducedPlace> &reduced);
  /// Before prepareTail().
  Result<void> prepareExchange(const DeviceWorld &world, RunStream run,
                               std::span<ReducedPlace> reduced);
  Result<void> prepareScalars(const DeviceWorld &world, const RunInputs &inputs,
                              std::span<const ScalarCounter> counters, ScalarsBy by, RunStream run);
  /// What the last block of the kernels runs: the scalars of `next`, or the gathering of an
  /// exchange, or nothing.
  Result<void> prepareTail(const DeviceWorld &world, const CudaStage &next, bool exchanges,
                           RunStream run);

  Result<void> launchScalars(const DeviceWorld &world, const ScalarsKernel &kernel,
                             driver::CUstream stream);
  /// `isBehindReducing`: what was queued last is a reducing kernel of the stage before. `queued`
  /// grows by one with each kernel that the stream has taken.
  Result<void> launchKernels(const DeviceWorld &world, driver::CUstream stream,
                             bool isBehindReducing, size_t &queued);
  Result<void> exchange(const DeviceWorld &world, const ScalarsKernel &kernel,
                        const fw_world &ranks, driver::CUstream stream);

  /// New records for an operand whose column is staged; they hold from commit() on.
  Result<void> stage(size_t program, size_t operand);
  void commit(size_t program, size_t operand);

  bool hasWorld() const { return world != nullptr; }
  bool reduces() const { return !reductions.empty(); }
  /// The program whose scalars decide and count.
  const StageScalars &firstScalars() const { return scalars.front(); }
  uint64_t blocks() const;
  uint32_t kernelCount() const;
  /// Launches of fw_scalars for the stage's scalars, and for an exchange.
  uint32_t scalarsCount(ScalarsBy by) const;
  uint32_t exchangeCount() const;

  void freeze();
  size_t workspaceBytes() const;

private:
  CudaStage() = default;
  Result<void> makeParts(const DeviceWorld &world, const PlanPrograms &programs, size_t number,
                         CudaStage *before);
  Result<void> makeReductions(const DeviceWorld &world, const PlanPrograms &programs,
                              size_t firstReduction);
  /// Chooses which launch comes last, so that its last block can run these programs; false: none.
  bool chooseLast(const ScalarCodes &codes);
  /// Whether anybody reads what a program's scalars compute.
  bool takesPart(size_t program) const;
  bool gathersInTail() const;

  std::vector<launch::Reduction> reductions;
  std::vector<std::unique_ptr<CudaLaunch>> launches; ///< by program; null: no kernel or no block
  std::vector<StageScalars> scalars;                 ///< by program
  std::optional<StageReductions> partials;           ///< where some launch has a block
  std::unique_ptr<WorldExchange> world;
  size_t last = 0;       ///< program whose launch comes last
  bool fitsTail = false; ///< the last block of the stage before can run the scalars of this one
  ScalarsBy scalarsOf = ScalarsBy::NOBODY; ///< of the run that was prepared last
  std::vector<ScalarsLaunch> tailPrograms; ///< kept for their memory
};

} // namespace fw::plan
