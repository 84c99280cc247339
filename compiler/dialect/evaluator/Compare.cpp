#include "compiler/dialect/evaluator/Compare.h"

#include "compiler/dialect/evaluator/Storage.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

namespace fw::evaluator {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// |a - b|, where an infinity is no distance from itself.
static double distance(double a, double b) { return a == b ? 0 : std::abs(a - b); }

Verdict judge(const Dtype &dtype, uint64_t word, const Bound &bound) {
  return judge(decode(dtype, word), bound);
}

Verdict judge(double x, const Bound &bound) {
  if (std::isnan(x))
    return bound.nan ? Verdict{} : Verdict{false, kInfinity, bound.bound, kInfinity};
  if (std::isnan(bound.lo)) // NaN alone
    return {false, kInfinity, 0, kInfinity};
  const bool ok = bound.lo <= x && x <= bound.hi;
  if (std::isnan(bound.value)) // a number was possible too, but there is none to measure from
    return ok ? Verdict{true, 0, bound.bound, 0} : Verdict{false, kInfinity, 0, kInfinity};
  Verdict verdict{ok, distance(x, bound.value), bound.bound, 0};
  if (!verdict.ok)
    verdict.bound = distance(x < bound.value ? bound.lo : bound.hi, bound.value);
  if (verdict.error > 0 && !std::isinf(verdict.bound))
    verdict.ratio = verdict.bound > 0 ? verdict.error / verdict.bound : kInfinity;
  return verdict;
}

void Comparison::add(const Dtype &dtype, uint64_t word, const Bound &bound, size_t inTensor,
                     size_t inElement) {
  const Verdict verdict = judge(dtype, word, bound);
  failures += !verdict.ok;
  if (elements++ && verdict.ratio <= worst.ratio)
    return;
  worst = verdict;
  tensor = inTensor;
  element = inElement;
  produced = word;
  expected = bound;
}

Comparison compare(const Output<Bound> &expected, const std::vector<std::vector<uint64_t>> &words) {
  assert(expected.tensors.size() == words.size());
  const Dtype &dtype = *findDtype(expected.dtype);
  Comparison comparison;
  for (size_t t = 0; t < words.size(); ++t) {
    assert(expected.tensors[t].size() == words[t].size());
    for (size_t i = 0; i < words[t].size(); ++i)
      comparison.add(dtype, words[t][i], expected.tensors[t][i], t, i);
  }
  return comparison;
}

BitDifference compareBits(const Output<uint64_t> &expected,
                          const std::vector<std::vector<uint64_t>> &words) {
  assert(expected.tensors.size() == words.size());
  const Dtype &dtype = *findDtype(expected.dtype);
  for (size_t t = 0; t < words.size(); ++t)
    for (size_t i = 0; i < words[t].size(); ++i)
      if (!sameValue(dtype, words[t][i], expected.tensors[t][i]))
        return {false, t, i, words[t][i], expected.tensors[t][i]};
  return {};
}

std::string describe(const Comparison &comparison, const Dtype &dtype) {
  char text[320];
  const Bound &expected = comparison.expected;
  std::snprintf(text, sizeof text,
                "tensor %zu, element %zu: expected %.17g within [%.17g, %.17g]%s, got %.17g "
                "(0x%llx): error %.3g, bound %.3g, ratio %.3g",
                comparison.tensor, comparison.element, expected.value, expected.lo, expected.hi,
                expected.nan ? " or NaN" : "", decode(dtype, comparison.produced),
                static_cast<unsigned long long>(comparison.produced), comparison.worst.error,
                comparison.worst.bound, comparison.worst.ratio);
  return text;
}

} // namespace fw::evaluator
