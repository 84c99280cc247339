// Scalars that only the device knows: the one-block launch before a launch, and its tables.
#pragma once

#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceTable.h"
#include "runtime/plan/Scalars.h"
#include "templates/vocab/scalars_launch.h"

namespace fw::plan {

/// The group and the entry (in the caller's order) whose scalars a row holds.
struct RowPlace {
  size_t group = 0;
  size_t entry = 0;
};

/// Numbers that a run counts up, each once, whatever the number of rows that read it.
std::vector<ScalarCounter> countersOf(const RunScalars &scalars, size_t groups, size_t hypers);

class Prologue {
public:
  static Result<Prologue> make(const DeviceWorld &world, const CudaKernel &kernel, size_t mostRows);

  /// Brings the sources of every row to the device.
  Result<void> prepare(const DeviceWorld &world, const RunScalars &scalars,
                       std::span<const RowPlace> rows, std::span<const ScalarCounter> counters,
                       driver::CUstream stream, bool capturing);
  Result<void> launch(const DeviceWorld &world, driver::CUstream stream);
  /// Takes back, in the order of the stream, what the last launch counted.
  Result<void> takeBack(const DeviceWorld &world, driver::CUstream stream);

  /// Where the rows are after the launch.
  uint64_t table() const { return results.address(); }
  void freeze();
  size_t workspaceBytes() const;

private:
  Prologue() = default;
  Result<void> allocate(const DeviceWorld &world, size_t mostRows);
  /// Sends operations, constants and slots.
  Result<void> sendProgram(const DeviceWorld &world);
  Result<void> launch(const DeviceWorld &world, ScalarsLaunch launch, driver::CUstream stream);

  const CudaKernel *kernel = nullptr;
  driver::CUfunction function = nullptr;
  DeviceTable program; ///< operations, constants and slots, which never change
  MirroredTable sources, counterList;
  DeviceTable results;
  ScalarsLaunch arguments = {};
};

} // namespace fw::plan
