#include "runtime/plan/ReduceArguments.h"

namespace fw::plan {

ReduceArguments::ReduceArguments(uint32_t operands, uint32_t slots, uint32_t realBytes)
    : KernelArguments(operands, slots, realBytes,
                      placesOf(ReduceLayout(operands, slots, realBytes),
                               reduceRowRoom(operands, slots, realBytes))),
      layout(operands, slots, realBytes) {}

} // namespace fw::plan
