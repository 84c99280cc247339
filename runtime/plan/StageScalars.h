// The scalars of one stage of one program: rows of slots for its kernel, computed by the host where
// it knows all inputs and writes no result, else on the device.
#pragma once

#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceScalars.h"
#include "runtime/plan/KernelArguments.h"
#include "runtime/plan/ProgramLists.h"

#include <optional>

namespace fw::plan {

/// Where scalar programs find the result of a reduction.
struct ReducedPlace {
  uint64_t address = 0; ///< in device memory; 0: nothing is reduced, and it is `neutral`
  double neutral = 0;
  bool perEntry = false; ///< one number per entry row of the plan
};

/// What all scalar programs of a run read.
struct RunInputs {
  std::span<const Group> groups;
  const RunScalars &scalars;
  std::span<const size_t> firstTensors;  ///< number of each group's first tensor
  double elements = 0;                   ///< of all tensors
  std::span<const ReducedPlace> reduced; ///< by number of the reduction
};

/// Where a scalar program finds a hyper for `entry` of the group that `found` belongs to.
ScalarSource hyperSource(RunScalars::Found found, size_t entry);

/// Numbers that a run counts up, each once, whatever the number of rows that read it.
std::vector<ScalarCounter> countersOf(const RunScalars &scalars, size_t groups, size_t hypers);

class StageScalars {
public:
  /// `kernel`: null where the stage has none. `isFirst`: of the plan's programs, so its first row
  /// speaks for all tensors. USAGE for operands that no scalar program on a device can read.
  static Result<StageScalars> make(const ProgramLists &lists, size_t stage,
                                   const CudaKernel *kernel, bool isFirst);

  const jit::ScalarProgram &program() const { return *scalars; }
  /// Whether it reads a hyper of which this is true.
  bool readsAny(const std::function<bool(size_t hyper)> &isMeant) const;
  /// True for what only a device can do, whatever the scalars of a run.
  bool needsDevice() const;
  bool writesResults() const { return !scalars->results.empty(); }
  bool writesTensors() const; ///< results of scope tensor
  /// True if the kernel, where it has blocks, reads slots.
  bool hasSlots() const { return kernel && kernel->slots > 0; }

  /// Memory for rows in more than parameters hold.
  Result<void> allocateRows(const DeviceWorld &world, const KernelArguments &parameters);
  /// Memory for prepareOnDevice(), which makes it too where this was not called.
  Result<void> allocateOnDevice(const DeviceWorld &world);

  Result<void> prepareOnHost(const DeviceWorld &world, const RunInputs &inputs,
                             KernelArguments &parameters, driver::CUstream stream, bool capturing);
  /// `parameters`: null where there is no kernel, or one without blocks.
  Result<void> prepareOnDevice(const DeviceWorld &world, const RunInputs &inputs,
                               std::span<const ScalarCounter> counters, KernelArguments *parameters,
                               driver::CUstream stream, bool capturing);
  /// What was prepared on the device.
  const DeviceScalars &onDevice() const { return *device; }

  void freeze();
  size_t workspaceBytes() const;

private:
  StageScalars(const ProgramLists &lists, size_t stage, const CudaKernel *kernel, bool isFirst);
  Result<void> findTypes();
  std::span<const RowPlace> rowsOf(const RunInputs &inputs);
  double hostInput(const jit::ScalarInput &input, size_t row, const RunInputs &inputs) const;
  ScalarSource sourceOf(const jit::ScalarInput &input, size_t row, const RunInputs &inputs) const;
  ScalarStore storeOf(const jit::ScalarResult &result, size_t row, const RunInputs &inputs) const;
  uint64_t addressOf(uint32_t operand, size_t row, const RunInputs &inputs) const;
  void computeRows(const RunInputs &inputs);

  const ProgramLists *lists;
  const jit::ScalarProgram *scalars;
  const CudaKernel *kernel;
  bool isFirst;
  std::vector<ScalarType> types; ///< by place in Program::operands, of those that are numbers
  bool alwaysByEntry = false;    ///< whatever the scalars of a run
  bool readsHypers = false;

  bool byEntry = false; ///< of the run that was prepared last
  std::span<const RowPlace> rows;
  bool hasRows = false;                       ///< the host has computed, and sent, all
  std::vector<double> hostInputs, slotValues; ///< kept for their memory
  MirroredTable rowTable;
  std::vector<ScalarSource> sources;
  std::vector<ScalarStore> stores;
  std::optional<DeviceScalars> device;
};

} // namespace fw::plan
