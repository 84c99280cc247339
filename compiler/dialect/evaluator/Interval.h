// What a kernel that works may have computed: a set of numbers, and the value of exact arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace fw::evaluator {

/// The order of the reals in which -0 stands before +0.
template <class T> bool before(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class T> T lower(T a, T b) { return before(b, a) ? b : a; }
template <class T> T upper(T a, T b) { return before(a, b) ? b : a; }

/// Every number from `lo` to `hi` (none where lo > hi), and NaN where `nan`. `value` is what the
/// equations give in T. An end beyond the format's largest value stays finite on the side of the
/// value, since a contracted product does not overflow.
template <class T> struct Interval {
  T value = 0;
  T lo = std::numeric_limits<T>::infinity();
  T hi = -std::numeric_limits<T>::infinity();
  bool nan = false;

  bool empty() const { return !(lo <= hi); }
  bool isPoint() const { return lo == hi && std::signbit(lo) == std::signbit(hi) && !nan; }
  bool isZero() const { return lo == 0 && hi == 0 && !nan; }
  bool hasZero() const { return lo <= 0 && hi >= 0; }
  bool hasBothSigns() const { return !empty() && std::signbit(lo) != std::signbit(hi); }
  bool hasInfinity() const { return !empty() && (std::isinf(lo) || std::isinf(hi)); }

  void add(T x) {
    lo = lower(lo, x);
    hi = upper(hi, x);
  }
};

/// No number yet, around `value`.
template <class T> Interval<T> around(T value, bool nan) {
  Interval<T> none;
  none.value = value;
  none.nan = nan;
  return none;
}

/// Exactly `x`.
template <class T> Interval<T> exactly(T x) {
  Interval<T> set = around(x, std::isnan(x));
  if (!set.nan)
    set.lo = set.hi = x;
  return set;
}

/// Any number at all, and NaN.
template <class T> Interval<T> anything(T value) {
  const T infinity = std::numeric_limits<T>::infinity();
  return {value, -infinity, infinity, true};
}

/// What is in `a` or in `b`; the value is that of `a`.
template <class T> Interval<T> hull(const Interval<T> &a, const Interval<T> &b) {
  return {a.value, lower(a.lo, b.lo), upper(a.hi, b.hi), a.nan || b.nan};
}

/// `f` that never falls, on the part of `x` from `first` on; NaN below it.
template <class T, class F>
Interval<T> rising(const Interval<T> &x, F f, T first = -std::numeric_limits<T>::infinity()) {
  Interval<T> result = around<T>(f(x.value), x.nan || x.lo < first);
  if (x.empty() || x.hi < first)
    return result;
  result.lo = f(std::max(x.lo, first));
  result.hi = f(x.hi);
  return result;
}

/// A bool that may be undecided.
struct Truth {
  bool value = false; ///< of exact arithmetic
  bool mayHold = false, mayFail = false;
};

inline Truth decided(bool value) { return {value, value, !value}; }

} // namespace fw::evaluator
