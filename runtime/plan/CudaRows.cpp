#include "runtime/plan/CudaRows.h"

#include "runtime/plan/CudaLaunch.h"
#include "runtime/plan/KernelOnStream.h"
#include "runtime/plan/RowsArguments.h"

#include <llvm/ADT/SmallVector.h>

namespace fw::plan {
namespace {

/// Fills one launch after the other.
class RowsLauncher {
public:
  RowsLauncher(const DeviceWorld &world, const launch::Program &program, const CudaKernel &kernel,
               driver::CUstream stream)
      : stage(program.stages.front()), kernel(kernel), onStream(world, kernel, stream),
        arguments(uint32_t(kernel.operands.size()), uint32_t(kernel.axes), uint32_t(kernel.slots),
                  kernel.doubleScalars) {}

  Result<void> run(std::span<const RowsWork> works, const launch::ScalarRows &scalars,
                   uint64_t bytes) {
    Result<void> fit = checkRoom();
    for (size_t w = 0; fit && w < works.size(); ++w) // before anything runs
      fit = checkBlocks(blocksOf(*works[w].entry));
    if (!fit)
      return fit;
    arguments.policy(policyFor(bytes));
    for (const RowsWork &work : works)
      if (Result<void> added = add(work, scalars); !added)
        return added;
    return flush();
  }

private:
  Result<void> checkRoom() const {
    if (arguments.fits() && (kernel.slots == 0 || arguments.rowRoom() > 0))
      return {};
    return Error{Code::USAGE,
                 "expected an op over rows whose operands and scalars fit into a kernel's "
                 "parameters, got one of " +
                     std::to_string(kernel.operands.size()) + " operands and " +
                     std::to_string(kernel.slots) + " scalar results",
                 "split the op, or run it on the CPU"};
  }

  uint64_t blocksOf(const launch::RowEntry &entry) const {
    return (uint64_t(entry.rows()) + kernel.rowsPerBlock - 1) / kernel.rowsPerBlock;
  }

  Result<void> add(const RowsWork &work, const launch::ScalarRows &scalars) {
    const launch::RowEntry &entry = *work.entry;
    const size_t rowRoom = kernel.slots == 0 ? recordCount + 1 : arguments.rowRoom();
    const bool isFull = recordCount == arguments.recordRoom() || recordCount == rowRoom;
    if (isFull || !checkBlocks(blocks + blocksOf(entry)))
      if (Result<void> flushed = flush(); !flushed)
        return flushed;
    llvm::SmallVector<uint64_t, 16> addresses;
    llvm::SmallVector<int64_t, 32> strides;
    for (uint32_t operand : kernel.operands) {
      addresses.push_back(reinterpret_cast<uint64_t>(entry.operand(operand).data));
      strides.append(work.grid.strides[operand].begin(), work.grid.strides[operand].end());
    }
    arguments.columns(uint32_t(entry.columns()));
    arguments.record(recordCount, addresses, strides, work.grid.sizes, uint64_t(entry.rows()),
                     uint32_t(blocks), uint32_t(recordCount));
    arguments.row(recordCount++,
                  rowSlots(stage, scalars.row(scalars.rowOf(entry.position())), entry));
    blocks += blocksOf(entry);
    return {};
  }

  Result<void> flush() {
    if (recordCount == 0)
      return {};
    arguments.recordCount(uint32_t(recordCount));
    void *parameters[] = {arguments.data()};
    Result<void> launched = onStream.launch(unsigned(blocks), parameters);
    recordCount = 0;
    blocks = 0;
    return launched;
  }

  const launch::Stage &stage;
  const CudaKernel &kernel;
  KernelOnStream onStream;
  RowsArguments arguments;
  size_t recordCount = 0;
  uint64_t blocks = 0;
};

} // namespace

Result<void> launchRows(const DeviceWorld &world, const launch::Program &program,
                        const CudaKernel &kernel, std::span<const RowsWork> works,
                        const launch::ScalarRows &scalars, uint64_t bytes,
                        driver::CUstream stream) {
  return RowsLauncher(world, program, kernel, stream).run(works, scalars, bytes);
}

} // namespace fw::plan
