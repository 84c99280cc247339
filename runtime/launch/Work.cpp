#include "runtime/launch/Work.h"

#include <algorithm>

namespace fw::launch {

namespace {

/// Elements of a share: the whole launch where that is small, else an even share of at most
/// shareBytes.
int64_t shareElements(double total, int64_t bytesPerElement, unsigned threads) {
  double bytes = total * double(bytesPerElement);
  if (threads <= 1 || bytes <= double(inlineBytes))
    return INT64_MAX;
  double share = std::min(bytes / threads, double(shareBytes));
  int64_t count = int64_t(std::max(share, double(inlineBytes) / 2) / double(bytesPerElement));
  return std::max<int64_t>((count + pieceAlignment - 1) / pieceAlignment * pieceAlignment,
                           pieceAlignment);
}

double sumOf(std::span<const int64_t> elements) {
  double total = 0;
  for (int64_t count : elements)
    total += double(count);
  return total;
}

} // namespace

WorkPlan planWork(std::span<const int64_t> elements, int64_t bytesPerElement, unsigned threads) {
  int64_t size = shareElements(sumOf(elements), bytesPerElement, threads);

  WorkPlan plan;
  int64_t room = size;
  for (size_t entry = 0; entry < elements.size(); ++entry)
    for (int64_t first = 0; first < elements[entry];) {
      int64_t left = elements[entry] - first;
      // A cut inside an entry falls on an aligned element; a nearly full share is closed instead.
      int64_t count = left <= room ? left : room / pieceAlignment * pieceAlignment;
      if (count > 0) {
        plan.pieces.push_back({entry, first, count});
        first += count;
        room -= count;
      }
      if (first < elements[entry] || room == 0) {
        plan.starts.push_back(plan.pieces.size());
        room = size;
      }
    }
  if (plan.starts.back() != plan.pieces.size())
    plan.starts.push_back(plan.pieces.size());
  return plan;
}

WorkPlan planReduction(std::span<const int64_t> elements, int64_t bytesPerElement,
                       unsigned threads) {
  const int64_t size = shareElements(sumOf(elements), bytesPerElement, threads);
  WorkPlan plan;
  int64_t taken = 0;
  for (size_t entry = 0; entry < elements.size(); ++entry)
    for (int64_t first = 0; first < elements[entry]; first += reductionPiece) {
      const int64_t count = std::min(elements[entry] - first, reductionPiece);
      plan.pieces.push_back({entry, first, count});
      taken += count;
      if (taken >= size) {
        plan.starts.push_back(plan.pieces.size());
        taken = 0;
      }
    }
  if (plan.starts.back() != plan.pieces.size())
    plan.starts.push_back(plan.pieces.size());
  return plan;
}

} // namespace fw::launch
