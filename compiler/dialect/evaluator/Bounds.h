// The domain of mode "bounds": intervals that hold whatever a kernel that works computes.
//
// An operation on intervals takes the exact operation's extremes and moves each end outwards by
//
//   u*|z| + 2^(emin - digits)          u = 2^-digits: 2^-24 and 2^-150 in f32
//
// which covers one correct rounding of any z inside, normal or not. The ends are computed in T,
// whose own rounding is covered too. Rounding keeps signs and zeros, so an end never crosses zero.
// A kernel that contracts a*b + c rounds less often and stays inside.
#pragma once

#include "compiler/dialect/evaluator/Evaluator.h"
#include "compiler/dialect/evaluator/Functions.h"
#include "compiler/dialect/evaluator/Interval.h"
#include "compiler/dialect/evaluator/Relation.h"
#include "compiler/dialect/evaluator/Storage.h"

#include <algorithm>
#include <cstdint>

namespace fw::evaluator {

template <class T> struct Bounds {
  using Real = Interval<T>;
  using Truth = evaluator::Truth;
  using Stored = Bound;
  static constexpr bool REDUCES = true;

  /// How an arithmetic format rounds.
  struct Format {
    explicit Format(const Dtype &dtype)
        : unit(std::ldexp(T(1), -dtype.digits) + 4 * OWN),
          tiny(std::max(std::ldexp(T(1), dtype.emin - dtype.digits),
                        std::numeric_limits<T>::denorm_min())),
          largest(T(dtype.largest)), smallest(std::ldexp(T(1), dtype.emin)),
          wholes(std::ldexp(T(1), dtype.digits)), isDouble(dtype.bytes == 8) {}
    T unit, tiny, largest;
    T smallest; ///< normal number
    T wholes;   ///< whole numbers up to here are exact
    bool isDouble;
  };
  static constexpr T OWN = std::numeric_limits<T>::epsilon() / 2;

  //===-- Rounding ----------------------------------------------------------------------------//

  static T outwards(T end, T direction, T unit, T tiny, T largest) {
    if (end == 0 || std::isinf(end))
      return end;
    const T moved = end + direction * (unit * std::abs(end) + tiny);
    if (std::signbit(moved) != std::signbit(end) || moved == 0)
      return std::copysign(T(0), end);
    return direction * moved > largest ? direction * std::numeric_limits<T>::infinity() : moved;
  }
  static Real widened(Real x, T unit, T tiny, T largest) {
    if (x.empty())
      return x;
    x.lo = outwards(x.lo, T(-1), unit, tiny, largest);
    x.hi = outwards(x.hi, T(1), unit, tiny, largest);
    return x;
  }
  /// After one correct rounding of each number in `exact`.
  static Real rounded(const Real &exact, const Format &f) {
    return widened(exact, f.unit, f.tiny, f.largest);
  }
  /// After a function that is off by at most `ulps` units in the last place (one is at most 2u).
  static Real approximated(const Real &exact, const Format &f, T ulps) {
    return widened(exact, 2 * ulps * f.unit + 8 * OWN, 2 * ulps * f.tiny, f.largest);
  }
  /// A rounding that the language declares (uniform, cast, round_to) belongs to the value as well.
  static Real convert(const Real &x, const Dtype &to) {
    Real result = around<T>(roundTo(to, x.value), x.nan);
    if (x.empty())
      return result;
    const T lo = roundTo(to, x.lo), hi = roundTo(to, x.hi);
    result.nan |= std::isnan(lo) || std::isnan(hi); // overflow where the format has no inf
    if ((std::isnan(lo) && x.lo > 0) || (std::isnan(hi) && x.hi < 0))
      return result;
    result.lo = std::isnan(lo) ? T(-to.largest) : lo;
    result.hi = std::isnan(hi) ? T(to.largest) : hi;
    return result;
  }
  /// What may lie in memory, around the value before its last rounding. Storing in the format of
  /// the arithmetic, or in a wider one, rounds nothing.
  static Stored store(const Real &x, const Dtype &from, const Dtype &to) {
    constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
    const bool rounds = to.digits < from.digits;
    Real set = rounds ? convert(x, to) : x;
    if (set.empty())
      return {NONE, 0, NONE, NONE, true};
    if (std::isnan(x.value))
      return {NONE, std::numeric_limits<double>::infinity(), innermost(set.lo, 1),
              innermost(set.hi, -1), true};
    // The value lies between the ends, or nearer to one than any number of the format.
    const auto value = static_cast<double>(x.value);
    const double lo = std::min(value, innermost(set.lo, 1));
    const double hi = std::max(value, innermost(set.hi, -1));
    double bound = std::max(gap(value, lo), gap(hi, value));
    if (rounds && bound > 0)
      bound = std::max(bound, double(std::max(gap(x.value, x.lo), gap(x.hi, x.value)) +
                                     halfUlp(to, std::max(-x.lo, x.hi))));
    return {value, bound, lo, hi, set.nan};
  }
  /// The double next to `end`, or at it, in `direction`.
  static double innermost(T end, double direction) {
    const auto near = static_cast<double>(end);
    if (T(direction) * (end - T(near)) > 0)
      return std::nextafter(near, direction * std::numeric_limits<double>::infinity());
    return near;
  }
  template <class N> static N gap(N above, N below) { return above == below ? 0 : above - below; }
  static T halfUlp(const Dtype &dtype, T x) {
    const int exponent = x == 0 || std::isinf(x) ? dtype.emin : std::ilogb(x);
    return std::ldexp(T(1), std::max(exponent, dtype.emin) - dtype.digits);
  }
  /// What is in memory after a run that may have been skipped: `old`, `now` or, undecided, either.
  static Stored kept(Truth skipped, double old, const Stored &now, const Dtype &dtype) {
    const Stored before = store(constant(old), dtype, dtype);
    if (!skipped.mayFail)
      return before;
    return !skipped.mayHold ? now : skipped.value ? either(before, now) : either(now, before);
  }
  static Stored either(Stored a, const Stored &b) {
    if (!std::isnan(b.lo)) {
      a.lo = std::fmin(a.lo, b.lo); // NaN where there was no number
      a.hi = std::fmax(a.hi, b.hi);
    }
    a.nan |= b.nan;
    a.bound = std::isnan(a.value) && !std::isnan(a.lo)
                  ? std::numeric_limits<double>::infinity()
                  : std::max({a.bound, gap(a.value, a.lo), gap(a.hi, a.value)});
    return a;
  }
  static Stored storeWhole(int64_t value, const IntDtype &to) {
    const auto stored = static_cast<double>(decodeInt(to, encodeInt(to, value)));
    return {stored, 0, stored, stored, false};
  }
  static Stored storeTruth(Truth truth, const IntDtype &) {
    const double lo = truth.mayFail ? 0 : 1, hi = truth.mayHold ? 1 : 0;
    return {double(truth.value), hi - lo, lo, hi, false};
  }
  static Stored keptWhole(Truth skipped, double old, const Stored &now, const IntDtype &) {
    const Stored before{old, 0, old, old, false};
    if (!skipped.mayFail)
      return before;
    return !skipped.mayHold ? now : skipped.value ? either(before, now) : either(now, before);
  }
  static Real constant(double x) { return exactly(T(x)); }
  static Real fromWhole(int64_t x, const Format &f) {
    const Real exact = exactly(T(x));
    return std::abs(exact.value) <= f.wholes ? exact : rounded(exact, f);
  }
  static Real fromInt(double x, const Format &f) {
    const Real exact = exactly(T(x));
    return std::abs(exact.value) <= f.wholes ? exact : rounded(exact, f);
  }

  //===-- Arithmetic --------------------------------------------------------------------------//

  static Real neg(const Real &x, const Format &) { return {-x.value, -x.hi, -x.lo, x.nan}; }
  static Real abs(const Real &x, const Format &) {
    Real result = around<T>(std::abs(x.value), x.nan);
    if (x.empty())
      return result;
    result.add(std::abs(x.lo));
    result.add(std::abs(x.hi));
    if (x.hasBothSigns())
      result.add(T(0));
    return result;
  }

  static Real add(const Real &a, const Real &b, const Format &f) {
    Real sum = around<T>(a.value + b.value, a.nan || b.nan);
    if (a.empty() || b.empty())
      return sum;
    sum.nan |= (std::isinf(a.hi) && std::isinf(b.lo) && a.hi != b.lo) ||
               (std::isinf(a.lo) && std::isinf(b.hi) && a.lo != b.hi);
    sum.lo = a.lo + b.lo;
    sum.hi = a.hi + b.hi;
    if (std::isnan(sum.lo) || std::isnan(sum.hi)) // inf - inf
      return a.isPoint() && b.isPoint() ? around(sum.value, true) : anything(sum.value);
    return a.isZero() || b.isZero() ? sum : rounded(sum, f); // x + 0 is x, not rounded
  }
  static Real sub(const Real &a, const Real &b, const Format &f) { return add(a, neg(b, f), f); }

  /// `op` at the corners of a and b; right for an operation that is monotone in each of the two
  /// apart from 0 and inf. Where a corner has no value (0*inf, 0/0), what lies beside it has one of
  /// two limits.
  template <class Op> static Real corners(const Real &a, const Real &b, T value, Op op) {
    Real result = around<T>(value, a.nan || b.nan);
    if (a.empty() || b.empty())
      return result;
    for (T x : {a.lo, a.hi})
      for (T y : {b.lo, b.hi})
        if (const T z = op(x, y); !std::isnan(z)) {
          result.add(z);
        } else if (result.nan = true; !(a.isPoint() && b.isPoint())) {
          const T sign = std::copysign(T(1), x) * std::copysign(T(1), y);
          result.add(sign * T(0));
          result.add(sign * std::numeric_limits<T>::infinity());
        }
    return result;
  }
  static bool holdsInvalidProduct(const Real &a, const Real &b) {
    return (a.hasZero() && b.hasInfinity()) || (a.hasInfinity() && b.hasZero());
  }
  static Real mul(const Real &a, const Real &b, const Format &f) {
    Real product = corners(a, b, a.value * b.value, [](T x, T y) { return x * y; });
    product.nan |= holdsInvalidProduct(a, b);
    return rounded(product, f);
  }
  /// x*x of one x: never negative.
  static Real square(const Real &a, const Format &f) {
    const Real size = abs(a, f);
    Real result = around<T>(a.value * a.value, a.nan);
    if (!a.empty()) {
      result.add(size.lo * size.lo);
      result.add(size.hi * size.hi);
    }
    return rounded(result, f);
  }
  static Real exactQuotient(const Real &a, const Real &b) {
    Real result = corners(a, b, a.value / b.value, [](T x, T y) { return x / y; });
    result.nan |= (a.hasZero() && b.hasZero()) || (a.hasInfinity() && b.hasInfinity());
    if (b.hasBothSigns() && !a.empty())
      return {result.value, -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity(),
              result.nan};
    return result;
  }
  static Real div(const Real &a, const Real &b, const Format &f) {
    if (b.isPoint() && b.lo == 1) // x / 1 is x, not rounded
      return a;
    return rounded(exactQuotient(a, b), f);
  }

  /// One rounding; the corners are fused too, as their product may cancel against c.
  static Real fma(const Real &a, const Real &b, const Real &c, const Format &f) {
    Real result = around<T>(std::fma(a.value, b.value, c.value), a.nan || b.nan || c.nan);
    if (a.empty() || b.empty() || c.empty())
      return result;
    const bool points = a.isPoint() && b.isPoint() && c.isPoint();
    const bool invalid =
        holdsInvalidProduct(a, b) || (c.hasInfinity() && (a.hasInfinity() || b.hasInfinity()));
    if (!points && invalid)
      return anything(result.value);
    for (T x : {a.lo, a.hi})
      for (T y : {b.lo, b.hi})
        for (T z : {c.lo, c.hi})
          if (const T r = std::fma(x, y, z); std::isnan(r))
            result.nan = true;
          else
            result.add(r);
    return rounded(result, f);
  }

  static Real max(const Real &a, const Real &b, const Format &) {
    Real result = around<T>(extreme(a.value, b.value, upper<T>), a.nan || b.nan);
    if (!a.empty() && !b.empty())
      result.lo = upper(a.lo, b.lo), result.hi = upper(a.hi, b.hi);
    return result;
  }
  static Real min(const Real &a, const Real &b, const Format &) {
    Real result = around<T>(extreme(a.value, b.value, lower<T>), a.nan || b.nan);
    if (!a.empty() && !b.empty())
      result.lo = lower(a.lo, b.lo), result.hi = lower(a.hi, b.hi);
    return result;
  }
  static T extreme(T a, T b, T (*pick)(T, T)) {
    return std::isnan(a) || std::isnan(b) ? a + b : pick(a, b);
  }

  static Real sqrt(const Real &x, const Format &f) { return rounded(exactRoot(x), f); }
  static Real exactRoot(const Real &x) {
    return rising(x, [](T v) { return std::sqrt(v); }, T(-0.0));
  }

  // Steps: exact, and undecided where the interval holds one, since the ends then differ.
  static Real floor(const Real &x, const Format &) {
    return rising(x, [](T v) { return std::floor(v); });
  }
  static Real ceil(const Real &x, const Format &) {
    return rising(x, [](T v) { return std::ceil(v); });
  }
  static Real trunc(const Real &x, const Format &) {
    return rising(x, [](T v) { return std::trunc(v); });
  }
  static Real round(const Real &x, const Format &) {
    return rising(x, [](T v) { return std::nearbyint(v); });
  }
  static Real sign(const Real &x, const Format &) {
    return rising(x, [](T v) { return v == 0 || std::isnan(v) ? v : std::copysign(T(1), v); });
  }

  //===-- Truth -------------------------------------------------------------------------------//

  static Truth compare(const Real &a, const Real &b, unsigned accepted) {
    unsigned possible = a.nan || b.nan ? UNORDERED : 0;
    if (!a.empty() && !b.empty())
      possible |= (a.lo < b.hi ? LESS : 0) | (a.hi > b.lo ? GREATER : 0) |
                  (a.lo <= b.hi && b.lo <= a.hi ? EQUAL : 0);
    return {(relation(a.value, b.value) & accepted) != 0, (possible & accepted) != 0,
            (possible & ~accepted) != 0};
  }
  static Truth isFinite(const Real &x, const Format &f) {
    const bool mayHold = !x.empty() && x.lo <= f.largest && x.hi >= -f.largest;
    return {std::abs(x.value) <= f.largest, mayHold, x.nan || x.hasInfinity()};
  }
  static Truth isNan(const Real &x, const Format &) {
    return {std::isnan(x.value), x.nan, !x.empty()};
  }

  static Truth decide(bool value) { return decided(value); }
  static Truth logicalAnd(Truth a, Truth b) {
    return {a.value && b.value, a.mayHold && b.mayHold, a.mayFail || b.mayFail};
  }
  static Truth logicalOr(Truth a, Truth b) {
    return {a.value || b.value, a.mayHold || b.mayHold, a.mayFail && b.mayFail};
  }
  static Truth logicalXor(Truth a, Truth b) {
    return {a.value != b.value, (a.mayHold && b.mayFail) || (a.mayFail && b.mayHold),
            (a.mayHold && b.mayHold) || (a.mayFail && b.mayFail)};
  }
  static Real choose(Truth c, const Real &a, const Real &b) {
    if (!c.mayFail)
      return a;
    if (!c.mayHold)
      return b;
    return c.value ? hull(a, b) : hull(b, a);
  }
  static Truth choose(Truth c, Truth a, Truth b) {
    return {c.value ? a.value : b.value, (c.mayHold && a.mayHold) || (c.mayFail && b.mayHold),
            (c.mayHold && a.mayFail) || (c.mayFail && b.mayFail)};
  }
};

} // namespace fw::evaluator
