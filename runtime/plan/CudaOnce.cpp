// One-shot launches: segments, addresses and scalars travel in the kernel's parameters.
#include "compiler/support/FloatMode.h"
#include "runtime/plan/Chunks.h"
#include "runtime/plan/CudaLaunch.h"
#include "runtime/plan/CudaPlan.h"
#include "runtime/plan/KernelOnStream.h"

#include <llvm/ADT/SmallVector.h>

namespace fw::plan {
namespace {

/// Fills one launch after the other with the segments of a list.
class OnceLauncher {
public:
  OnceLauncher(const DeviceWorld &world, const launch::Program &program, const CudaKernel &kernel,
               driver::CUstream stream)
      : program(program), kernel(kernel), onStream(world, kernel, stream),
        arguments(int(kernel.operands.size()), int(kernel.slots), kernel.doubleScalars),
        addresses(kernel.operands.size()), slots(kernel.slots) {}

  Result<void> run(const launch::TensorList &list, const launch::ScalarRows &rows) {
    if (arguments.rowRoom() == 0)
      return Error{Code::USAGE,
                   "expected an op whose scalars fit into a kernel's parameters, got one of " +
                       std::to_string(kernel.slots) + " scalar results",
                   "make a plan, which keeps them in device memory"};
    arguments.policy(policyFor(streamedBytes(list)));
    for (size_t e = 0; e < list.entries.size(); ++e) {
      const launch::Entry &entry = list.entries[e];
      const size_t row = rows.rowOf(entry.position);
      for (int64_t r = 0; r < entry.elements / entry.run; ++r)
        if (Result<void> added = add(list, {0, e, r, uint64_t(entry.run)}, rows, row); !added)
          return added;
    }
    return flush();
  }

private:
  static constexpr size_t noRow = size_t(-1);

  uint64_t streamedBytes(const launch::TensorList &list) const {
    uint64_t elements = 0;
    for (const launch::Entry &entry : list.entries)
      elements += uint64_t(entry.elements);
    return elements * uint64_t(launch::bytesPerElement(program.operands));
  }

  Result<void> add(const launch::TensorList &list, const SegmentPlace &place,
                   const launch::ScalarRows &rows, size_t row) {
    const bool needsRow = row != lastRow;
    if (segmentCount == arguments.segmentRoom() || (needsRow && rowCount == arguments.rowRoom()))
      if (Result<void> flushed = flush(); !flushed)
        return flushed;
    if (row != lastRow)
      addRow(rows.row(row), row);
    for (size_t k = 0; k < kernel.operands.size(); ++k)
      addresses[k] = addressOf(list, place, kernel.operands[k]);
    const ChunkRule rule{kernel.chunk, kernel.vec, kernel.bytes};
    Segment segment{.count = place.count,
                    .head = headOf(place.count, addresses, rule),
                    .firstBlock = uint32_t(blocks),
                    .row = uint32_t(rowCount - 1),
                    .reserved = 0};
    blocks += blocksOf(segment, kernel.chunk);
    arguments.segment(segmentCount++, segment, addresses);
    return checkBlocks(blocks);
  }

  void addRow(std::span<const double> hypers, size_t row) {
    StandardFloatMode mode;
    program.scalarProgram(hypers, slots);
    arguments.row(rowCount++, slots);
    lastRow = row;
  }

  Result<void> flush() {
    if (segmentCount == 0)
      return {};
    arguments.segmentCount(uint32_t(segmentCount));
    void *parameters[] = {arguments.data()};
    Result<void> launched = onStream.launch(unsigned(blocks), parameters);
    segmentCount = rowCount = 0;
    blocks = 0;
    lastRow = noRow;
    return launched;
  }

  const launch::Program &program;
  const CudaKernel &kernel;
  KernelOnStream onStream;
  ElementsArguments arguments;
  llvm::SmallVector<uint64_t, 8> addresses; // a launch has few, and should not allocate for them
  llvm::SmallVector<double, 16> slots;
  size_t segmentCount = 0, rowCount = 0, lastRow = noRow;
  uint64_t blocks = 0;
};

} // namespace

Result<void> launchOnce(const DeviceWorld &world, const launch::Program &program,
                        const CudaKernel &kernel, const launch::TensorList &list,
                        const launch::ScalarRows &rows, driver::CUstream stream) {
  return OnceLauncher(world, program, kernel, stream).run(list, rows);
}

} // namespace fw::plan
