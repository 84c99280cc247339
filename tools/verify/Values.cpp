#include "tools/verify/Values.h"

#include "compiler/dialect/evaluator/Storage.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace fw::verify {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// 2^e * (1 + fraction) with e from `low` to `high`.
double inBinades(Random &random, int low, int high) {
  int exponent = low + int(random.below(uint64_t(high - low + 1)));
  return std::ldexp(1 + random.unit(), exponent);
}

/// Below and just above the smallest normal number, of the dtype or of f32.
double tiny(Random &random, const Dtype &dtype) {
  int emin = random.below(2) ? dtype.emin : std::max(dtype.emin, -126);
  return inBinades(random, emin - dtype.digits, emin + 1);
}

/// Within a few binades of the largest value.
double large(Random &random, const Dtype &dtype) {
  int top = std::ilogb(dtype.largest);
  return random.below(8) ? inBinades(random, top - 3, top - 1) : dtype.largest;
}

/// Half-way between two neighbours of a narrower format, or next to it.
double tie(Random &random) {
  constexpr int kDigits[] = {11, 8, 4, 3};
  int digits = kDigits[random.below(std::size(kDigits))];
  double odd = double(2 * random.below(uint64_t(1) << (digits - 1)) + (uint64_t(1) << digits) + 1);
  double value = std::ldexp(odd, int(random.below(12)) - 6 - digits);
  switch (random.below(4)) {
  case 0:
    return value * (1 + 0x1p-23);
  case 1:
    return value * (1 - 0x1p-23);
  default:
    return value;
  }
}

double special(Random &random, const Dtype &dtype) {
  const double choices[] = {0.0,
                            kInf,
                            kNaN,
                            1.0,
                            0.5,
                            dtype.largest,
                            std::ldexp(1.0, dtype.emin),
                            std::ldexp(1.0, dtype.emin - dtype.digits + 1)};
  return choices[random.below(std::size(choices))];
}

double drawNumber(Random &random, const Dtype &dtype, Values values) {
  switch (values) {
  case Values::TINY:
    return tiny(random, dtype);
  case Values::HUGE_:
    return large(random, dtype);
  case Values::TIES:
    return tie(random);
  case Values::SPECIAL:
    return special(random, dtype);
  default:
    return inBinades(random, -6, 3);
  }
}

} // namespace

uint64_t Random::next() { return mix(state++, 0x9e3779b97f4a7c15); }

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a * 0xd1342543de82ef95 + b + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t drawWord(Random &random, const Dtype &dtype, Values values, bool positive) {
  double number = drawNumber(random, dtype, values);
  bool negative = random.below(2) && (!positive || values == Values::SPECIAL);
  return evaluator::encode(dtype, negative ? -number : number);
}

double drawScalar(Random &random, const RequestScalar &scalar, bool takeDefault) {
  constexpr double kSteps[] = {1, 2, 3, 10, 1000, 123456};
  if (scalar.isStep)
    return kSteps[random.below(std::size(kSteps))];
  if (takeDefault && scalar.value)
    return *scalar.value;
  if (scalar.kind == "bool")
    return double(random.below(2));
  if (scalar.kind == "int")
    return std::clamp(double(random.below(9)) - 4, scalar.low, scalar.high);
  if (std::isfinite(scalar.low) &&
      std::isfinite(scalar.high)) // an open bound is never drawn: unit() < 1
    return scalar.low +
           (scalar.high - scalar.low) * std::max(random.unit(), scalar.lowOpen ? 0x1p-20 : 0);
  double size = std::pow(10.0, random.unit() * 6 - 4);
  if (std::isfinite(scalar.low))
    return scalar.low + size;
  return std::isfinite(scalar.high) ? scalar.high - size : (random.below(2) ? size : -size);
}

} // namespace fw::verify
