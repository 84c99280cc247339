// The list of a case as a launch of pattern `elements` takes it: one segment per tensor.
#pragma once

#include "compiler/jit/ProgramRecord.h"
#include "runtime/plan/Chunks.h"
#include "runtime/plan/ElementsArguments.h"
#include "tools/verify/Arena.h"

namespace fw::verify {

/// The tensors of a case in an arena whose first byte is at address `base` for the kernel.
class ElementsList {
public:
  ElementsList(const ResolvedRequest &request, const jit::LaunchRecord &launch, const Case &data,
               const Arena &arena, uint64_t base);

  const std::vector<std::vector<uint64_t>> &columns() const { return addresses; }
  std::vector<uint64_t> addressesOf(size_t tensor) const;

  size_t tensorCount() const { return data.sizes.size(); }

  /// Records of all tensors. Where there are as many rows of scalars as tensors, a tensor's row is
  /// its number, as entry of the list if `byEntry`, else as a group of one.
  std::vector<Chunk> chunks(bool byEntry, size_t rows) const;

  /// Where the records of each tensor begin, and their end.
  std::vector<uint32_t> firstChunks(const std::vector<Chunk> &chunks) const;

  /// Puts all tensors that are not empty, which must have room, into the parameter; the number of
  /// blocks.
  uint64_t fillSegments(plan::ElementsArguments &arguments, size_t rows) const;

private:
  static uint32_t rowOf(size_t tensor, size_t rows) { return rows > 1 ? uint32_t(tensor) : 0; }

  const Case &data;
  std::vector<unsigned> bytes;
  plan::ChunkRule rule;
  std::vector<std::vector<uint64_t>> addresses; ///< [column][tensor]
};

} // namespace fw::verify
