// Ops over rows: the tensors that they are timed on, and the bytes that these must move.
#pragma once

#include "tools/bench/Bench.h"

namespace fw::bench {

/// One tensor of about so many elements in rows of `width`; its shape has the axes of the op's
/// header. Several axes in front of the row are queries, as many as a row has elements, 16 heads,
/// and a batch.
TensorList listOfRows(const ResolvedRequest &request, int64_t width, int64_t elements);

/// An operand's shape, where the axes of the header have these lengths.
std::vector<int64_t> shapeOf(const ResolvedRequest &request, const RequestOperand &operand,
                             const std::vector<int64_t> &lengths);

/// What must move, by operand: each element once per read and once per write, but for those behind
/// the diagonal where no row reads them.
std::vector<Stream> streamsOf(const ResolvedRequest &request, const std::vector<int64_t> &lengths);

} // namespace fw::bench
