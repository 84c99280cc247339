#include "runtime/launch/RowOverlap.h"

#include "runtime/launch/Intersection.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <tuple>

namespace fw::launch {

namespace {

/// The bytes that all rows touch lie in [begin, end).
struct Extent {
  uintptr_t begin, end;
  uint32_t entry, operand;
};
using Extents = llvm::SmallVector<Extent, 8>;

class RowOverlap {
public:
  RowOverlap(const Program &program, const RowEntries &entries)
      : program(program), entries(entries) {}

  /// The sweep goes by address: who ends before an extent meets nobody that comes after it either.
  Result<void> run() {
    Extents written, read;
    for (const Extent &extent : sorted()) {
      const bool isWritten = program.operands[extent.operand].written;
      const Extent *other = find(written, extent);
      if (!other && isWritten)
        other = find(read, extent);
      if (other)
        return isWritten ? shared(extent, *other) : shared(*other, extent);
      (isWritten ? written : read).push_back(extent);
    }
    return {};
  }

private:
  const RowOperand &operandOf(const Extent &extent) const {
    return entries[extent.entry].operand(extent.operand);
  }

  Extents sorted() const {
    Extents extents;
    for (size_t e = 0; e < entries.size(); ++e)
      for (size_t k = 0; k < program.operands.size(); ++k) {
        const RowOperand &operand = entries[e].operand(k);
        if (!operand.data || entries[e].rows() == 0 || operand.rowBytes == 0)
          continue;
        int64_t low = 0, high = operand.rowBytes;
        for (const RowOperand::Dimension &dimension : operand.dimensions)
          (dimension.byteStride < 0 ? low : high) += (dimension.size - 1) * dimension.byteStride;
        const auto at = reinterpret_cast<uintptr_t>(operand.data);
        extents.push_back({at + uintptr_t(low), at + uintptr_t(high), uint32_t(e), uint32_t(k)});
      }
    std::ranges::sort(extents, [](const Extent &a, const Extent &b) {
      return std::tie(a.begin, a.entry, a.operand) < std::tie(b.begin, b.entry, b.operand);
    });
    return extents;
  }

  /// One of `active` that shares memory with `extent`. Those that end before it go.
  const Extent *find(Extents &active, const Extent &extent) {
    llvm::erase_if(active, [&](const Extent &each) { return each.end <= extent.begin; });
    for (const Extent &each : active)
      if (!isSame(each, extent) && meet(each, extent))
        return &each;
    return nullptr;
  }

  /// One tensor, read and written element by element.
  bool isSame(const Extent &a, const Extent &b) const {
    const Operand &first = program.operands[a.operand], &second = program.operands[b.operand];
    const RowOperand &one = operandOf(a), &other = operandOf(b);
    return a.entry == b.entry && first.written != second.written && !program.header.swaps &&
           one.data == other.data && one.rowBytes == other.rowBytes &&
           first.bytes == second.bytes &&
           program.axes.ofOperands[a.operand] == program.axes.ofOperands[b.operand] &&
           one.dimensions == other.dimensions;
  }

  bool meet(const Extent &a, const Extent &b) {
    const auto aLoops = loopsOf(a), bLoops = loopsOf(b);
    auto view = [&](const Extent &extent, const std::vector<Loop> &loops) {
      return View{reinterpret_cast<uintptr_t>(operandOf(extent).data),
                  uint64_t(operandOf(extent).rowBytes), loops, 0};
    };
    return intersection.of(view(a, aLoops), view(b, bLoops));
  }
  std::vector<Loop> loopsOf(const Extent &extent) const {
    std::vector<Loop> loops;
    for (const RowOperand::Dimension &dimension : operandOf(extent).dimensions)
      if (dimension.size > 1)
        loops.push_back({dimension.size, {dimension.byteStride}});
    return loops;
  }

  Error shared(const Extent &written, const Extent &other) const {
    const std::string ofEntry =
        written.entry == other.entry
            ? ""
            : " of entry " + std::to_string(entries[other.entry].position());
    return {Code::USAGE,
            "expected memory of its own for written operand '" +
                program.operands[written.operand].name + "', got some that '" +
                program.operands[other.operand].name + "'" + ofEntry + " has too",
            "pass other memory, or the very tensor that is only read, with its strides"};
  }

  const Program &program;
  const RowEntries &entries;
  Intersection intersection;
};

} // namespace

Result<void> checkRowOverlap(const Program &program, const RowEntries &entries) {
  return RowOverlap(program, entries).run();
}

} // namespace fw::launch
