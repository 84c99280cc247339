// One value of an operand at a time: what a row has one of, and reads at a place that is computed.
#pragma once

#include "templates/vocab/memory.h"

namespace fw {

/// Element i of operand `k`.
template <class T>
FW_INLINE typename Codec<T>::Real valueAt(const u64 *pointers, int k, u64 i = 0) {
  Raw<T, 1> raw;
  load<1>(raw, pointer<T>(pointers, k), i, L2::NORMAL);
  return get(raw, 0);
}

/// The same, and `outside` where i is none of `count` places.
template <class T>
FW_INLINE typename Codec<T>::Real valueWithin(const u64 *pointers, int k, i64 i, u32 count,
                                              typename Codec<T>::Real outside) {
  if (i < 0 || i >= static_cast<i64>(count))
    return outside;
  return valueAt<T>(pointers, k, static_cast<u64>(i));
}

/// Element 0 of operand `k` becomes `x` rounded once.
template <class T, class X> FW_INLINE void storeValue(const u64 *pointers, int k, X x) {
  Raw<T, 1> raw;
  set(raw, 0, x);
  store<1>(raw, pointer<T>(pointers, k), 0);
}

/// The type of number `E` of a list.
template <int E, class First, class... Rest> struct Pick {
  using Type = typename Pick<E - 1, Rest...>::Type;
};
template <class First, class... Rest> struct Pick<0, First, Rest...> {
  using Type = First;
};

} // namespace fw
