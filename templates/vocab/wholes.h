// Storage dtypes of bools and ints. A bool is a byte: what is not 0 reads as true, and 0 or 1 is
// stored. Numbers of ints are i64; storing one keeps the low bits of its width.
#pragma once

#include "templates/vocab/dtypes.h"

namespace fw {

// Types of their own: plain ones of the same widths are storage words.
struct b8 {
  u8 bits;
};
struct w8u {
  u8 bits;
};
struct w8 {
  u8 bits;
};
struct w16 {
  u16 bits;
};
struct w32 {
  u32 bits;
};
struct w64 {
  u64 bits;
};

template <> struct Codec<b8> {
  using Bits = u8;
  using Real = bool;
  static FW_INLINE bool decode(u8 bits) { return bits != 0; }
  static FW_INLINE u8 encode(bool x) { return x ? 1 : 0; } // of an int: whether it is not 0
};

/// The word of an int, which `Signed` reads with its sign.
template <class Word, class Signed> struct Whole {
  using Bits = Word;
  using Real = i64;
  static FW_INLINE i64 decode(Word bits) { return static_cast<Signed>(bits); }
  static FW_INLINE Word encode(i64 x) { return static_cast<Word>(x); }
};

template <> struct Codec<w8u> : Whole<u8, u8> {};
template <> struct Codec<w8> : Whole<u8, signed char> {};
template <> struct Codec<w16> : Whole<u16, short> {};
template <> struct Codec<w32> : Whole<u32, int> {};
template <> struct Codec<w64> : Whole<u64, i64> {};

} // namespace fw
