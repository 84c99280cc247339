// Storage formats, exactly: the reference that conversions of kernels are compared with. Everything
// follows from the fields of dtypes.def.
#pragma once

#include "compiler/dialect/Dtypes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fw::evaluator {

/// The number that the storage word `bits` stands for; NaN keeps its sign.
double decode(const Dtype &dtype, uint64_t bits);

/// The word that `x` becomes: rounded once, to nearest even. Beyond the largest value: inf, or NaN
/// where the format has no inf, or the largest value in the saturating formats (of inf too). NaN
/// keeps its sign, but is 0x7fff in the formats of 16 bits.
uint64_t encode(const Dtype &dtype, double x);
uint64_t encode(const Dtype &dtype, long double x);

/// What is read back after storing `x`.
inline double roundTo(const Dtype &dtype, double x) { return decode(dtype, encode(dtype, x)); }
inline double roundTo(const Dtype &dtype, long double x) { return decode(dtype, encode(dtype, x)); }

/// The same number, or NaN both: NaN's sign and payload are not part of what arithmetic promises.
bool sameValue(const Dtype &dtype, uint64_t a, uint64_t b);

/// Storage words from and to memory as kernels see it (little-endian, dense).
std::vector<uint64_t> unpack(const Dtype &dtype, std::span<const std::byte> memory);
std::vector<std::byte> pack(const Dtype &dtype, std::span<const uint64_t> words);

} // namespace fw::evaluator
