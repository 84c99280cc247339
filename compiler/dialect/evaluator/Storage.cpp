#include "compiler/dialect/evaluator/Storage.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace fw::evaluator {

static_assert(std::endian::native == std::endian::little,
              "words are copied from memory as they lie");

namespace {

/// Where sign, exponent and fraction of a format lie in its word.
struct Layout {
  explicit Layout(const Dtype &dtype)
      : fractionBits(dtype.digits - 1), sign(uint64_t(1) << (8 * dtype.bytes - 1)),
        magnitude(sign - 1), fraction((uint64_t(1) << fractionBits) - 1),
        exponent(magnitude & ~fraction) {}

  int fractionBits;
  uint64_t sign, magnitude, fraction, exponent;
};

/// In a format without inf only the topmost word is NaN; else every word above inf.
bool isNan(const Dtype &dtype, const Layout &layout, uint64_t magnitude) {
  return dtype.infinity ? magnitude > layout.exponent : magnitude == layout.magnitude;
}

uint64_t nanWord(const Dtype &dtype, const Layout &layout, bool negative) {
  const uint64_t sign = negative ? layout.sign : 0;
  switch (dtype.bytes) {
  case 1:
    return sign | layout.magnitude;
  case 2:
    return layout.magnitude;
  default: // the quiet NaN of IEEE
    return sign | layout.exponent | ((layout.fraction >> 1) + 1);
  }
}

/// Of a finite, positive number below 2^digits times the smallest step; exact.
uint64_t finiteWord(const Dtype &dtype, const Layout &layout, double x) {
  const int exponent = std::max(x == 0 ? dtype.emin : std::ilogb(x), dtype.emin);
  const auto steps = uint64_t(std::ldexp(x, layout.fractionBits - exponent));
  // A normal number's implicit bit carries into the exponent field; a subnormal one has none.
  return (uint64_t(exponent - dtype.emin) << layout.fractionBits) + steps;
}

uint64_t overflowWord(const Dtype &dtype, const Layout &layout) {
  if (dtype.saturate)
    return finiteWord(dtype, layout, dtype.largest);
  return dtype.infinity ? layout.exponent : nanWord(dtype, layout, false);
}

/// `x` >= 0 as a multiple of the format's step at its size, as if exponents had no upper limit.
template <class T> T roundMagnitude(const Dtype &dtype, T x) {
  const int exponent = std::max(x == 0 ? dtype.emin : std::ilogb(x), dtype.emin);
  const int step = exponent - (dtype.digits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(x, -step)), step); // the mode is to nearest even
}

template <class T> uint64_t encodeAny(const Dtype &dtype, T x) {
  const Layout layout(dtype);
  const bool negative = std::signbit(x);
  if (std::isnan(x))
    return nanWord(dtype, layout, negative);
  const uint64_t sign = negative ? layout.sign : 0;
  const T rounded = std::isinf(x) ? std::abs(x) : roundMagnitude(dtype, std::abs(x));
  if (rounded > T(dtype.largest))
    return sign | overflowWord(dtype, layout);
  return sign | finiteWord(dtype, layout, static_cast<double>(rounded));
}

} // namespace

double decode(const Dtype &dtype, uint64_t bits) {
  const Layout layout(dtype);
  const uint64_t magnitude = bits & layout.magnitude;
  const double sign = bits & layout.sign ? -1.0 : 1.0;
  if (isNan(dtype, layout, magnitude))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (dtype.infinity && magnitude == layout.exponent)
    return sign * std::numeric_limits<double>::infinity();
  const auto field = int(magnitude >> layout.fractionBits);
  const uint64_t implicit = field ? layout.fraction + 1 : 0;
  const int step = dtype.emin - layout.fractionBits + std::max(field - 1, 0);
  return sign * std::ldexp(double(implicit | (magnitude & layout.fraction)), step);
}

uint64_t encode(const Dtype &dtype, double x) { return encodeAny(dtype, x); }
uint64_t encode(const Dtype &dtype, long double x) { return encodeAny(dtype, x); }

bool sameValue(const Dtype &dtype, uint64_t a, uint64_t b) {
  const Layout layout(dtype);
  return a == b ||
         (isNan(dtype, layout, a & layout.magnitude) && isNan(dtype, layout, b & layout.magnitude));
}

std::vector<uint64_t> unpack(const Dtype &dtype, std::span<const std::byte> memory) {
  assert(memory.size() % dtype.bytes == 0);
  std::vector<uint64_t> words(memory.size() / dtype.bytes);
  for (size_t i = 0; i < words.size(); ++i)
    std::memcpy(&words[i], memory.data() + i * dtype.bytes, dtype.bytes);
  return words;
}

std::vector<std::byte> pack(const Dtype &dtype, std::span<const uint64_t> words) {
  std::vector<std::byte> memory(words.size() * dtype.bytes);
  for (size_t i = 0; i < words.size(); ++i)
    std::memcpy(memory.data() + i * dtype.bytes, &words[i], dtype.bytes);
  return memory;
}

} // namespace fw::evaluator
