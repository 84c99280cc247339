// Produced storage words against the evaluator's bounds: what every numeric test and `verify`
// report.
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Evaluator.h"

namespace fw::evaluator {

/// One produced element. `ratio` = error / bound, at most 1 exactly when `ok`.
struct Verdict {
  bool ok = true;
  double error = 0; ///< distance of what was produced from the value
  double bound = 0; ///< that the evaluator gives; of an element not ok: up to the end it passes
  double ratio = 0;
};

/// The element with the largest ratio of all that were added.
struct Comparison {
  bool ok() const { return failures == 0; }

  size_t elements = 0, failures = 0;
  Verdict worst;
  size_t tensor = 0, element = 0; ///< place of the worst
  uint64_t produced = 0;
  Bound expected{};

  void add(const Dtype &dtype, uint64_t word, const Bound &bound, size_t tensor, size_t element);
};

Verdict judge(const Dtype &dtype, uint64_t word, const Bound &bound);
/// The same of a number that was decoded.
Verdict judge(double produced, const Bound &bound);

/// All tensors of an output; `words` has the shape of the output.
Comparison compare(const Output<Bound> &expected, const std::vector<std::vector<uint64_t>> &words);

/// Tensors whose words differ from the reference (NaN equals NaN): the first place, or ok.
struct BitDifference {
  bool ok = true;
  size_t tensor = 0, element = 0;
  uint64_t produced = 0, expected = 0;
};
BitDifference compareBits(const Output<uint64_t> &expected,
                          const std::vector<std::vector<uint64_t>> &words);

/// "expected ..., got ...", of the worst element.
std::string describe(const Comparison &comparison, const Dtype &dtype);

} // namespace fw::evaluator
