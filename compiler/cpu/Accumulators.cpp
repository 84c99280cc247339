#include "compiler/cpu/Accumulators.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace fw::cpu {

namespace {

double neutralOf(fuse::ReduceKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case fuse::ReduceKind::Sum:
    return 0;
  case fuse::ReduceKind::Max:
    return -infinity;
  case fuse::ReduceKind::Min:
    break;
  }
  return infinity;
}

/// Lanes [first, first + count) of a vector; one lane is a scalar.
Value part(const Lanes &lanes, Value vector, int64_t first, int64_t count) {
  if (count == 1)
    return lanes.make<vector::ExtractOp>(vector, first);
  SmallVector<int64_t> places(count);
  std::iota(places.begin(), places.end(), first);
  return lanes.make<vector::ShuffleOp>(vector, vector, places);
}

} // namespace

fuse::ReduceKind kindOf(fuse::EachOp each, unsigned index) {
  return cast<fuse::ReduceKindAttr>((*each.getKinds())[index]).getValue();
}

Accumulators neutral(const Lanes &lanes, fuse::EachOp each) {
  Accumulators out;
  for (auto [r, result] : llvm::enumerate(each.getResults()))
    out.push_back(lanes.number(result.getType(), neutralOf(kindOf(each, r))));
  return out;
}

Value combine(const Lanes &lanes, fuse::ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case fuse::ReduceKind::Sum:
    return lanes.make<arith::AddFOp>(a, b);
  case fuse::ReduceKind::Max:
    return lanes.make<arith::MaximumFOp>(a, b);
  case fuse::ReduceKind::Min:
    break;
  }
  return lanes.make<arith::MinimumFOp>(a, b);
}

Accumulators fold(const Lanes &lanes, fuse::EachOp each, ArrayRef<Accumulators> vectors) {
  Accumulators out;
  for (unsigned r = 0; r < each.getNumResults(); ++r) {
    const fuse::ReduceKind kind = kindOf(each, r);
    auto values = llvm::map_to_vector(vectors, [&](const Accumulators &each) { return each[r]; });
    for (size_t half = values.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        values[i] = combine(lanes, kind, values[i], values[i + half]);
    Value last = values.front();
    for (int64_t half = lanes.getWidth() / 2; half > 0; half /= 2)
      last = combine(lanes, kind, part(lanes, last, 0, half), part(lanes, last, half, half));
    out.push_back(last);
  }
  return out;
}

} // namespace fw::cpu
