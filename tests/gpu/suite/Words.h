// Numbers as tensors store them. Written from the formats' definitions, apart from the product.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace suite {

using Random = std::mt19937_64;

struct Format {
  const char *name;
  unsigned bytes, exponentBits, mantissaBits;
  bool hasInf; ///< false: the topmost word alone is NaN (e4m3fn)

  uint64_t sign() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  uint64_t mantissa() const { return (uint64_t(1) << mantissaBits) - 1; }
  /// The greatest field of an exponent.
  uint64_t top() const { return (uint64_t(1) << exponentBits) - 1; }
  int bias() const { return int(top() >> 1); }
};

/// Of a dtype's name; those of one format that overflow otherwise share it.
const Format &formatOf(const std::string &dtype);

double decode(const Format &format, uint64_t word);
bool isNaN(const Format &format, uint64_t word);

/// Kinds of values that are mixed in every tensor.
enum class Kind { NORMAL, TINY, HUGE_VALUES, TIES, SPECIAL };
uint64_t randomWord(const Format &format, Kind kind, Random &random);
/// Of any kind, most of them normal.
uint64_t mixedWord(const Format &format, Random &random);

uint64_t load(const Format &format, const std::byte *from);
void store(const Format &format, uint64_t word, std::byte *to);

} // namespace suite
