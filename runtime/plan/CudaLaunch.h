// All groups of one program as one launch, with its tables in device memory.
#pragma once

#include "runtime/plan/Chunks.h"
#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/DeviceTable.h"
#include "runtime/plan/ElementsArguments.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/Prologue.h"
#include "runtime/plan/Segments.h"

#include <memory>
#include <optional>

namespace fw::plan {

/// The L2 policy of a launch that moves this many bytes.
uint64_t policyFor(uint64_t streamedBytes);

/// USAGE for more blocks than one launch can have.
Result<void> checkBlocks(uint64_t blocks);

class CudaLaunch {
public:
  /// `groups` are all of the plan's; this launch takes those at `chosen`. `world` must outlive it.
  static Result<std::unique_ptr<CudaLaunch>> make(const DeviceWorld &world,
                                                  const CudaKernel &kernel,
                                                  std::span<const Group> groups,
                                                  std::vector<size_t> chosen);

  /// Takes new addresses, which are checked, of `operand` in `group`.
  Result<void> repoint(std::span<Group> groups, size_t group, size_t operand,
                       std::span<void *const> pointers);

  /// Brings tables and scalars up to date; what may fail is here. `counters` are counted up by this
  /// launch's prologue.
  Result<void> prepare(std::span<const Group> groups, const RunScalars &scalars,
                       std::span<const ScalarCounter> counters, driver::CUstream stream,
                       bool capturing);
  Result<void> launch(driver::CUstream stream);
  /// Takes back the steps that this run has counted on the device.
  Result<void> takeBack(driver::CUstream stream);

  uint64_t blocks() const { return chunks.size(); }
  /// Of kernels, in the run that was prepared last.
  uint32_t launchCount() const { return uint32_t(!chunks.empty()) + uint32_t(usesPrologue); }
  size_t workspaceBytes() const;

private:
  CudaLaunch(const DeviceWorld &world, const CudaKernel &kernel, std::vector<size_t> chosen);
  void collect(std::span<const Group> groups);
  Result<void> planBlocks();
  Result<void> allocate();
  Result<void> updateTables(driver::CUstream stream, bool capturing);
  Result<void> hostRows(const launch::Program &program, const RunScalars &scalars,
                        std::span<const RowPlace> rows, driver::CUstream stream, bool capturing);
  Result<void> deviceRows(const RunScalars &scalars, std::span<const RowPlace> rows,
                          std::span<const ScalarCounter> counters, driver::CUstream stream,
                          bool capturing);
  void freeze();

  const DeviceWorld &world;
  const CudaKernel &kernel;
  driver::CUfunction function = nullptr;

  std::vector<size_t> groupNumbers;                ///< in the plan
  std::vector<RowPlace> groupRows;                 ///< scalar rows where each group has one
  std::vector<RowPlace> entryRows;                 ///< scalar rows where each entry has its own
  std::vector<size_t> firstEntries, firstSegments; ///< by group of the launch; segments with end
  std::vector<SegmentPlace> segments;
  std::vector<std::vector<uint64_t>> addresses; ///< [column][segment]
  /// By group of the launch: columns hold the addresses as the caller gives them, an entry a
  /// segment and none empty. The lists of such groups keep those of the beginning.
  std::vector<bool> isDirect;
  std::vector<Chunk> chunks;

  std::vector<bool> stale; ///< by column: the device has other addresses
  bool staleChunks = true;
  std::vector<DeviceTable> columns;
  DeviceTable chunkTable;
  MirroredTable rowTable;
  std::vector<double> hyperValues, slotValues; ///< of the rows, kept for their memory
  std::optional<Prologue> prologue;
  bool usesPrologue = false; ///< in the run that was prepared last
  bool hasCounted = false;   ///< in that run: its prologue is queued
  ElementsArguments arguments;
};

} // namespace fw::plan
