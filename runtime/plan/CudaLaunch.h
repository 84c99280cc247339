// One kernel over all groups of a program, with the table of its blocks in device memory.
#pragma once

#include "runtime/plan/AddressColumns.h"
#include "runtime/plan/Chunks.h"
#include "runtime/plan/CudaKernel.h"
#include "runtime/plan/ElementsArguments.h"
#include "runtime/plan/ReduceArguments.h"

#include <memory>
#include <variant>

namespace fw::plan {

/// The L2 policy of a launch that moves this many bytes.
uint64_t policyFor(uint64_t streamedBytes);

/// USAGE for more blocks than one launch can have.
Result<void> checkBlocks(uint64_t blocks);

class CudaLaunch {
public:
  /// All that is referred to must outlive it.
  static Result<std::unique_ptr<CudaLaunch>> make(const DeviceWorld &world,
                                                  const CudaKernel &kernel,
                                                  const ProgramLists &lists,
                                                  AddressColumns &columns);

  bool reads(size_t operand) const;
  /// Cuts the segments at the staged addresses anew; the records hold from commit() on.
  Result<void> stage();
  void commit();

  /// Brings the table of blocks up to date; addresses and scalars are the callers' to bring.
  Result<void> prepare(const DeviceWorld &world, driver::CUstream stream, bool capturing);
  /// `early`: what was queued last is the reducing kernel that this one stands behind, and need not
  /// have ended where this kernel waits for it by itself.
  Result<void> launch(const DeviceWorld &world, driver::CUstream stream, bool early);
  void freeze() { chunkTable.freeze(); }

  KernelArguments &parameters();
  void setTail(const ReduceTail &tail) { std::get<ReduceArguments>(arguments).tail(tail); }

  const CudaKernel &ofKernel() const { return kernel; }
  std::span<const Chunk> records() const { return chunks; }
  size_t blocks() const { return chunks.size(); }
  /// Times that it has been cut.
  uint32_t cuts() const { return cutCount; }
  /// Whatever addresses it gets.
  size_t mostBlocks() const { return most; }
  size_t workspaceBytes() const { return chunkTable.workspaceBytes(); }

private:
  CudaLaunch(const CudaKernel &kernel, const ProgramLists &lists, AddressColumns &columns);
  std::vector<Chunk> cut(bool isStaged);
  driver::CUresult launchEarly(const DeviceWorld &world, driver::CUstream stream,
                               void **bytes) const;

  const CudaKernel &kernel;
  AddressColumns &columns;
  driver::CUfunction function = nullptr;
  std::vector<ListSegment> segments;
  std::vector<Chunk> chunks, stagedChunks;
  size_t most = 0;
  uint32_t cutCount = 1;
  bool isStale = true; ///< the device has other records
  DeviceTable chunkTable;
  std::variant<ElementsArguments, ReduceArguments> arguments;
};

} // namespace fw::plan
