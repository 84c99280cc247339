// The sample of skeleton `norm_last_block` with scalar programs behind it, one per launch: a clip
// factor, a step that counts, states in memory, and a run that is skipped where a sum overflows.
#pragma once

#include <vector>

#include "tests/emulator/ReduceCase.h"

namespace fw {

class TailCase {
public:
  /// `overflows`: the sum of squares is infinite, and the run is skipped.
  TailCase(const std::vector<std::vector<ReduceCase::Shape>> &launches, bool overflows);

  /// What is wrong with a run: nothing, a fault, or the first number that differs.
  std::string check(const emulator::BundledKernel &kernel, Orders orders);

private:
  enum Input { TOTAL, BIGGEST, NORM, STEP, LIMIT, STATE, INPUTS };

  void addProgram(size_t firstEntry, size_t count);
  std::vector<double> valuesOf(size_t entry) const;
  std::string compare() const;

  struct Program {
    size_t firstEntry = 0;
    std::vector<ScalarSource> sources;
    std::vector<ScalarStore> stores;
    std::vector<float> table;
    ScalarsLaunch launch = {};
  };

  ReduceCase data;
  const bool overflows;
  std::vector<Program> programs;
  std::vector<ScalarCounter> counters;
  std::vector<float> ratios; ///< a state of each tensor
  u16 state = 0;             ///< f16, of all tensors
  double report = -1;        ///< written by skipped runs too
  int step = 41;
};

} // namespace fw
