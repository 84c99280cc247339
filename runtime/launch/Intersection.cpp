#include "runtime/launch/Intersection.h"

#include <algorithm>

namespace fw::launch {

namespace {

__extension__ using Wide = __int128;
constexpr int maxSteps = 4096;

Wide floorDivide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide ceilDivide(Wide a, Wide b) { return -floorDivide(-a, b); }

} // namespace

std::pair<uintptr_t, uintptr_t> addressRange(const View &view) {
  Wide begin = view.address, end = begin + Wide(view.runBytes);
  for (const Loop &loop : view.loops) {
    Wide reach = Wide(loop.byteStrides[view.operand]) * (loop.extent - 1);
    (reach < 0 ? begin : end) += reach;
  }
  auto clamped = [](Wide address) {
    return uintptr_t(std::clamp(address, Wide(0), Wide(UINTPTR_MAX)));
  };
  return {clamped(begin), clamped(end)};
}

/// Adds the loops of a view, whose places count `sign`. Loops of one pitch in both views are one
/// term: only how many rows they are apart matters.
void Intersection::addLoops(const View &view, int sign) {
  for (const Loop &loop : view.loops) {
    Wide stride = Wide(loop.byteStrides[view.operand]) * sign;
    if (stride == 0)
      continue;
    Wide most = loop.extent - 1, size = stride < 0 ? -stride : stride;
    auto known = std::ranges::find(terms, size, &Term::stride);
    if (known == terms.end())
      known = terms.insert(terms.end(), Term{size, 0, 0});
    (stride < 0 ? known->low : known->high) += stride < 0 ? -most : most;
  }
}

void Intersection::addSums() {
  std::ranges::sort(terms, std::ranges::greater(), &Term::stride);
  for (size_t i = terms.size(); i-- > 0;) {
    terms[i].least = least(i + 1) + terms[i].low * terms[i].stride;
    terms[i].most = most(i + 1) + terms[i].high * terms[i].stride;
  }
}

/// Whether the terms from number `i` on can bring the distance to one at which runs meet. Strides
/// of nested loops leave two or three numbers to try for each term.
bool Intersection::reaches(Wide distance, size_t i) {
  if (distance + least(i) > last || distance + most(i) < first)
    return false;
  if (i == terms.size() || ++steps > maxSteps)
    return true;
  const Term &term = terms[i];
  Wide from = std::max(term.low, ceilDivide(first - distance - most(i + 1), term.stride));
  Wide to = std::min(term.high, floorDivide(last - distance - least(i + 1), term.stride));
  for (Wide n = from; n <= to; ++n)
    if (reaches(distance + n * term.stride, i + 1))
      return true;
  return false;
}

bool Intersection::of(const View &a, const View &b) {
  if (a.loops.empty() && b.loops.empty())
    return a.address < b.address + b.runBytes && b.address < a.address + a.runBytes;
  terms.clear();
  addLoops(a, -1);
  addLoops(b, 1);
  addSums();
  // A run of b meets one of a when it ends after the first byte of a's and starts before its end.
  first = 1 - Wide(b.runBytes);
  last = Wide(a.runBytes) - 1;
  steps = 0;
  return reaches(Wide(b.address) - Wide(a.address));
}

} // namespace fw::launch
