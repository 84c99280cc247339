#include "runtime/plan/ElementsArguments.h"

namespace fw::plan {

ElementsArguments::ElementsArguments(uint32_t operands, uint32_t slots, uint32_t realBytes)
    : KernelArguments(operands, slots, realBytes,
                      placesOf(ElementsLayout(operands, slots, realBytes),
                               fw::rowRoom(operands, slots, realBytes))),
      layout(operands, slots, realBytes) {}

void ElementsArguments::segment(size_t number, const Segment &segment,
                                std::span<const uint64_t> addresses) {
  put(layout.segments + uint32_t(number * sizeof segment), segment);
  for (uint32_t k = 0; k < operands; ++k)
    put(layout.addresses + (uint32_t(number) * operands + k) * uint32_t(sizeof(uint64_t)),
        addresses[k]);
}

} // namespace fw::plan
