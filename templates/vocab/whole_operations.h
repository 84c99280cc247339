// Operations of the language on ints of 64 bits, defined for all operands: they wrap.
#pragma once

#include "templates/vocab/prelude.h"

namespace fw {

FW_INLINE i64 wrapped(u64 bits) { return static_cast<i64>(bits); }

FW_INLINE i64 wholeSum(i64 a, i64 b) { return wrapped(static_cast<u64>(a) + static_cast<u64>(b)); }
FW_INLINE i64 wholeDifference(i64 a, i64 b) {
  return wrapped(static_cast<u64>(a) - static_cast<u64>(b));
}
FW_INLINE i64 wholeProduct(i64 a, i64 b) {
  return wrapped(static_cast<u64>(a) * static_cast<u64>(b));
}

FW_INLINE i64 larger(i64 a, i64 b) { return a > b ? a : b; }
FW_INLINE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/// A limit of columns, moved into a row of them.
FW_INLINE i64 columnWithin(i64 at, u32 columns) {
  return smaller(larger(at, 0), static_cast<i64>(columns));
}

FW_INLINE bool isWithin(u32 column, u32 first, u32 last) { return column - first < last - first; }

/// Rounded down; 0 of a division by 0.
FW_INLINE i64 wholeQuotient(i64 a, i64 b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrapped(u64{0} - static_cast<u64>(a)); // the quotient of the least number wraps
  const i64 towardsZero = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? towardsZero - 1 : towardsZero;
}

/// What a division rounded down leaves; of a division by 0 all of it.
FW_INLINE i64 wholeRest(i64 a, i64 b) {
  return wrapped(static_cast<u64>(a) - static_cast<u64>(wholeQuotient(a, b)) * static_cast<u64>(b));
}

/// 0 where `by` is not within 0 and 63.
FW_INLINE i64 shiftedLeft(i64 a, i64 by) {
  return by < 0 || by > 63 ? 0 : wrapped(static_cast<u64>(a) << by);
}

/// With the sign; 0 or -1 where `by` is not within 0 and 63.
FW_INLINE i64 shiftedRight(i64 a, i64 by) { return a >> (by < 0 || by > 63 ? 63 : by); }

/// The other column of a pair among the first `count` of `columns`: a neighbour, or one half of
/// them away; a column without one is its own.
FW_INLINE i64 partnerOf(i64 column, i64 count, bool isInterleaved, u32 columns) {
  const i64 half = larger(smaller(count, static_cast<i64>(columns)), 0) / 2;
  if (column >= 2 * half)
    return column;
  if (isInterleaved)
    return column ^ 1;
  return column < half ? column + half : column - half;
}

} // namespace fw
