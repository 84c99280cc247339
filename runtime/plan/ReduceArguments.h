// The parameter of a kernel that reduces, fw::ReduceLaunch.
#pragma once

#include "runtime/plan/KernelArguments.h"
#include "templates/vocab/reduce_launch.h"

namespace fw::plan {

class ReduceArguments : public KernelArguments {
public:
  /// Of a kernel with so many operands and scalar slots, which are f64 where `doubles`, else f32.
  ReduceArguments(int operands, int slots, bool doubles)
      : ReduceArguments(uint32_t(operands), uint32_t(slots), bytesOfReal(doubles)) {}

  /// Where its partials go, and what follows them.
  void tail(const ReduceTail &tail) { put(layout.tail, tail); }

private:
  ReduceArguments(uint32_t operands, uint32_t slots, uint32_t realBytes);

  ReduceLayout layout;
};

} // namespace fw::plan
