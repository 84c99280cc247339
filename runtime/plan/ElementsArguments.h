// The parameter of a kernel that stores, fw::ElementsLaunch.
#pragma once

#include "runtime/plan/KernelArguments.h"

namespace fw::plan {

/// Without chunks a launch walks the segments that are in here; there are none at first.
class ElementsArguments : public KernelArguments {
public:
  /// Of a kernel with so many operands and scalar slots, which are f64 where `doubles`, else f32.
  ElementsArguments(int operands, int slots, bool doubles)
      : ElementsArguments(uint32_t(operands), uint32_t(slots), bytesOfReal(doubles)) {}

  /// Most segments that there is room for.
  size_t segmentRoom() const { return fw::segmentRoom(operands); }

  /// Segment `number` and the addresses of its operands. `Segment::row` is final here.
  void segment(size_t number, const Segment &segment, std::span<const uint64_t> addresses);
  void segmentCount(uint32_t count) { put(layout.segmentCount, count); }

private:
  ElementsArguments(uint32_t operands, uint32_t slots, uint32_t realBytes);

  ElementsLayout layout;
};

} // namespace fw::plan
