#include "tests/gpu/suite/Words.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace suite {
namespace {

constexpr Format formats[] = {{"f32", 4, 8, 23, true},    {"f64", 8, 11, 52, true},
                              {"f16", 2, 5, 10, true},    {"bf16", 2, 8, 7, true},
                              {"e4m3fn", 1, 4, 3, false}, {"e4m3fn.sat", 1, 4, 3, false},
                              {"e5m2", 1, 5, 2, true},    {"e5m2.sat", 1, 5, 2, true}};

uint64_t compose(const Format &format, bool negative, uint64_t exponent, uint64_t mantissa) {
  return (negative ? format.sign() : 0) | exponent << format.mantissaBits |
         (mantissa & format.mantissa());
}

uint64_t below(Random &random, uint64_t count) { return random() % count; }

uint64_t specialWord(const Format &format, Random &random) {
  const bool negative = below(random, 2);
  const uint64_t last = format.hasInf ? format.mantissa() : format.mantissa() - 1;
  switch (below(random, 6)) {
  case 0:
    return compose(format, negative, 0, 0);
  case 1: // inf, or the format's NaN
    return compose(format, negative, format.top(), format.hasInf ? 0 : format.mantissa());
  case 2: // NaN
    return compose(format, negative, format.top(), format.mantissa());
  case 3: // the largest number
    return compose(format, negative, format.hasInf ? format.top() - 1 : format.top(), last);
  case 4: // the smallest one
    return compose(format, negative, 0, 1);
  default: // one
    return compose(format, negative, uint64_t(format.bias()), 0);
  }
}

} // namespace

const Format &formatOf(const std::string &dtype) {
  for (const Format &format : formats)
    if (dtype == format.name)
      return format;
  std::fprintf(stderr, "the suite knows no dtype %s\n", dtype.c_str());
  std::abort();
}

bool isNaN(const Format &format, uint64_t word) {
  const uint64_t exponent = word >> format.mantissaBits & format.top();
  const uint64_t mantissa = word & format.mantissa();
  return exponent == format.top() &&
         (format.hasInf ? mantissa != 0 : mantissa == format.mantissa());
}

double decode(const Format &format, uint64_t word) {
  if (isNaN(format, word))
    return std::numeric_limits<double>::quiet_NaN();
  const int exponent = int(word >> format.mantissaBits & format.top());
  const double mantissa = double(word & format.mantissa());
  const double sign = word & format.sign() ? -1 : 1;
  if (format.hasInf && exponent == int(format.top()))
    return sign * std::numeric_limits<double>::infinity();
  const int unit = 1 - format.bias() - int(format.mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(mantissa, unit);
  return sign * std::ldexp(mantissa + std::ldexp(1, int(format.mantissaBits)), unit + exponent - 1);
}

uint64_t randomWord(const Format &format, Kind kind, Random &random) {
  const bool negative = below(random, 2);
  const uint64_t bits = random();
  const uint64_t bias = uint64_t(format.bias()), span = format.exponentBits < 5 ? 4 : 8;
  switch (kind) {
  case Kind::NORMAL:
    return compose(format, negative, bias - span + 2 + below(random, span), bits);
  case Kind::TINY:
    return compose(format, negative, below(random, 3), bits);
  case Kind::HUGE_VALUES:
    return compose(format, negative, format.top() - 1 - below(random, 3), bits);
  case Kind::TIES: { // midway between two numbers of a narrower format
    const uint64_t low = uint64_t(1) << below(random, format.mantissaBits);
    return compose(format, negative, bias - 2 + below(random, 4), (bits & ~(2 * low - 1)) | low);
  }
  case Kind::SPECIAL:
    break;
  }
  return specialWord(format, random);
}

uint64_t mixedWord(const Format &format, Random &random) {
  const uint64_t choice = below(random, 16);
  return randomWord(format, choice < 4 ? Kind(1 + choice) : Kind::NORMAL, random);
}

uint64_t load(const Format &format, const std::byte *from) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, from, format.bytes);
  return word;
}

void store(const Format &format, uint64_t word, std::byte *to) {
  std::memcpy(to, &word, format.bytes);
}

} // namespace suite
