// A scalar program whose inputs only the device knows, or whose results only it may write: what
// fw_scalars and the last block of a reducing kernel are given, and the tables behind that.
#pragma once

#include "compiler/jit/ScalarProgram.h"
#include "runtime/plan/DeviceTable.h"
#include "templates/vocab/scalars_launch.h"

namespace fw::plan {

/// The kernel fw_scalars as one plan launches it.
class ScalarsKernel {
public:
  /// Compiles and loads it where this plan has not yet; a capture is refused that.
  Result<void> load(const DeviceWorld &world, bool capturing);
  bool isLoaded() const { return function != nullptr; }
  Result<void> launch(const DeviceWorld &world, const ScalarsLaunch &launch,
                      driver::CUstream stream) const;

private:
  driver::CUfunction function = nullptr;
};

class DeviceScalars {
public:
  /// Its slots become columns of a table, of f64 where `doubles`, else f32. `program` must outlive
  /// it.
  static Result<DeviceScalars> make(const DeviceWorld &world, const jit::ScalarProgram &program,
                                    size_t mostRows, bool doubles);

  /// What each of `rows` rows reads ([row][input]) and writes ([row][result]), and what the run
  /// counts behind them.
  Result<void> prepare(const DeviceWorld &world, size_t rows,
                       std::span<const ScalarSource> rowSources,
                       std::span<const ScalarStore> rowStores,
                       std::span<const ScalarCounter> counters, driver::CUstream stream,
                       bool capturing);

  const ScalarsLaunch &launch() const { return arguments; }
  /// One that takes back what this one counts.
  ScalarsLaunch takingBack() const;
  /// Where the rows of slots are behind it.
  uint64_t table() const { return slotTable.address(); }

  void freeze();
  size_t workspaceBytes() const;

private:
  Result<void> allocate(const DeviceWorld &world, size_t mostRows, bool doubles);
  /// Sends operations, constants and slots.
  Result<void> sendProgram(const DeviceWorld &world);

  const jit::ScalarProgram *scalars = nullptr;
  DeviceTable program; ///< operations, constants and slots, which never change
  MirroredTable sources, stores, counterList;
  DeviceTable slotTable;
  ScalarsLaunch arguments = {};
};

/// USAGE where a block has too little memory for a row of the program.
Result<void> checkLength(const jit::ScalarProgram &program);

} // namespace fw::plan
