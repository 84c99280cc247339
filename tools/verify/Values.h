// Deterministic numbers for the cases.
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "tools/verify/Cases.h"

#include <cstdint>

namespace fw::verify {

/// SplitMix64 (Steele, Lea, Flood 2014): a counter-based stream, equal on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  uint64_t below(uint64_t count) { return next() % count; }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

/// A stream of its own for each number tuple.
uint64_t mix(uint64_t a, uint64_t b);

/// A storage word of the kind `values` (not MIXED). `positive` draws no negative number but
/// among the special ones.
uint64_t drawWord(Random &random, const Dtype &dtype, Values values, bool positive);

/// A legal value of a scalar: the default in the first row, else anywhere in its range.
double drawScalar(Random &random, const RequestScalar &scalar, bool takeDefault);

} // namespace fw::verify
