// Reductions on intervals: what any kernel that works may leave.
//
// max and min are exact. A sum may be taken in any order of the following form, which covers every
// backend; n is the longest chain of roundings that one element goes through.
//
// - Inside a piece, at most 65536 elements of one tensor (and the few of an unaligned head), in
//   element precision. A CPU adds them in 128 bytes of accumulators: 2048 terms each of f32, 4096
//   of f64; a thread of a block of 128 and more adds 512. Then come a tree of at most 10 levels and
//   the elements of a tail: n <= 2048 + 64, or 4096 + 64 in f64.
// - Across pieces, in f64, in any order: n <= the number of elements.
//
// Pairs (compiler/dialect/Pairs.h) may be made about references in between: a thread's elements
// about its own, which is then moved to that of a warp and of the row, and where a thread takes a
// row in S steps to that of all its elements so far. No more than 2 + S levels, S <= 1 + n/512.
//
// - sum(exp(s - t)): a level multiplies by the exponential of the distance of its maxima. The
//   distances of all levels add up to t - s, which the text's own bound has; a level adds the
//   exponential's error, the product's rounding, and what lies below the smallest normal number.
// - sum((x - m)^2): a level adds c*d^2, d being the distance of its means and c the number of
//   elements. That leaves out 2*d*sum(x - m'), m' being the mean before, which is 0 but for the
//   rounding of m': at most c*e, e = g*avg|x|. Let Q = sum((x - m)^2). As c*|d| <= sum|x - m''|
//   about the mean behind, and avg|x| <= |m''| + avg|x - m''|, by Cauchy and Schwarz the lanes of a
//   warp leave out no more than 2*g*(|m|*sqrt(n*Q) + 2*Q), and the warps of a row
//   2*g*(|m|*sqrt(n*Q) + Q). In a step c*|d| <= sum|x - m''| over the new elements alone, whose
//   squares add up to no more than Q over all steps; so with Hardy's inequality the steps of a
//   thread leave out 2*g*(|m|*sqrt(n*Q) + 2*Q). Of second order, 8*g^2*(n*m^2 + Q) a level. The
//   arithmetic of a level is off by 5u*Q. g has as many roundings as a mean between has. Two lanes
//   have n/2 elements each, more have fewer; a thread that holds its part has 128 at the most, one
//   that does not is one of 256; the trees are of 10 levels, and the mean is divided and rounded.
//
// The sum of n + 1 numbers is off by at most gamma_n * (sum of magnitudes) (Higham 2002, section
// 4.2), gamma_n = n*u / (1 - n*u). Whole numbers that stay below 2^digits are added without a
// rounding.
#pragma once

#include "compiler/dialect/evaluator/Bounds.h"
#include "compiler/dialect/evaluator/Plan.h"
#include "templates/vocab/math_fast.h"

namespace fw::evaluator {

/// Of a domain that plans no reductions.
template <class D> class Reducer {
public:
  Reducer(fuse::ReduceKind, const typename D::Format &, const PairedSum &) {}
  void add(const typename D::Real &, const typename D::Real &) {}
  void endTensor() {}
  typename D::Real result() { return {}; }
  typename D::Real resultOfElements() { return {}; }
};

template <class T> class Reducer<Bounds<T>> {
public:
  using D = Bounds<T>;
  using Real = typename D::Real;

  Reducer(fuse::ReduceKind kind, const typename D::Format &format, const PairedSum &pair)
      : kind(kind), pair(pair), format(format),
        extreme(exactly(kind == fuse::ReduceKind::Max ? -INFINITE : INFINITE)) {}

  /// `about` is what a paired sum is made about.
  void add(const Real &x, const Real &about) {
    if (pair.kind == PairedSum::Kind::Moments)
      mean = std::max({mean, std::abs(about.lo), std::abs(about.hi)});
    if (kind == fuse::ReduceKind::Sum)
      addToSum(x);
    else
      extreme =
          kind == fuse::ReduceKind::Max ? D::max(extreme, x, format) : D::min(extreme, x, format);
  }

  /// The elements so far are those of one tensor, or of several: no piece holds two tensors.
  void endTensor() {
    const T pieces = T(std::min(piece.count, PIECE));
    const bool exact = piece.isWhole && piece.largest * pieces <= format.wholes;
    if (!exact)
      error += insidePiece(piece) * piece.magnitude();
    overflow(piece, format.largest);
    all.join(piece);
    piece = {};
  }

  Real result() {
    if (kind != fuse::ReduceKind::Sum)
      return extreme;
    return sum();
  }

  /// What keeps axes is a number of the elements' precision.
  Real resultOfElements() {
    const Real exact = result();
    const bool isExact = (all.count <= 1 && pair.kind != PairedSum::Kind::Exponentials) ||
                         (all.isWhole && all.magnitude() <= format.wholes);
    return kind != fuse::ReduceKind::Sum || isExact ? exact : D::rounded(exact, format);
  }

private:
  static constexpr size_t PIECE = 65536 + 16;
  static constexpr T INFINITE = std::numeric_limits<T>::infinity();
  static constexpr T F64_UNIT = T(0x1p-53);

  /// Finite numbers.
  struct Amount {
    size_t count = 0;
    T plus = 0, minus = 0; ///< sums of the ends on either side of 0
    T largest = 0;
    bool isWhole = true;

    void add(T lo, T hi) {
      plus += std::max(hi, T(0));
      minus += std::max(-lo, T(0));
      largest = std::max({largest, std::abs(lo), std::abs(hi)});
      isWhole &= std::trunc(lo) == lo && std::trunc(hi) == hi;
    }
    void join(const Amount &other) {
      count += other.count;
      plus += other.plus;
      minus += other.minus;
      isWhole &= other.isWhole;
    }
    T magnitude() const { return plus + minus; }
  };

  static T gamma(size_t terms, T unit) {
    const T n = terms > 1 ? T(terms - 1) * unit : T(0);
    return n / (1 - n);
  }

  T insidePiece(const Amount &amount) const {
    const size_t chain = (format.isDouble ? 4096 : 2048) + 64;
    return gamma(std::min(amount.count, chain + 1), format.unit);
  }

  /// What references in between add to the bound of the sum of all.
  T ofReferences() const {
    const T n = T(all.count), u = format.unit, levels = 3 + std::floor(n / 512);
    if (all.magnitude() == 0)
      return 0;
    if (pair.kind == PairedSum::Kind::Exponentials) {
      const T exponential = 2 * T(pair.isFast ? fast::ULPS : ulps::exp.f32) * u;
      return levels * ((exponential + u) * all.magnitude() + n * format.smallest);
    }
    if (pair.kind == PairedSum::Kind::None || all.count <= 1)
      return 0;
    const bool isHeld = all.count <= 512;
    const T most = std::min(std::ceil(n / 2) + 1, 128 + 10 + (isHeld ? T(0) : n / 256));
    const T g = gamma(size_t(most) + 2, u);
    const T q = all.magnitude(), across = mean * std::sqrt(n * q);
    const T first = 2 * g * (isHeld ? 2 * across + 3 * q : 3 * across + 5 * q);
    const T second = 8 * g * g * (n * mean * mean + q);
    return first + levels * (second + 5 * u * q + n * format.tiny);
  }

  void addToSum(Real x) {
    value += x.value;
    ++piece.count;
    mayBeNan |= x.nan;
    if (x.empty()) {
      isNan = true;
      return;
    }
    // Past any rounding: it has overflowed, or does when it is added.
    if (std::abs(x.lo) > 2 * format.largest)
      x.lo = std::copysign(INFINITE, x.lo);
    if (std::abs(x.hi) > 2 * format.largest)
      x.hi = std::copysign(INFINITE, x.hi);
    isPlus |= x.lo == INFINITE && !x.nan;
    isMinus |= x.hi == -INFINITE && !x.nan;
    mayBePlus |= x.hi == INFINITE;
    mayBeMinus |= x.lo == -INFINITE;
    const T finiteLo = std::isinf(x.lo) ? T(0) : x.lo, finiteHi = std::isinf(x.hi) ? T(0) : x.hi;
    lo += finiteLo;
    hi += finiteHi;
    piece.add(std::min(finiteLo, finiteHi), std::max(finiteLo, finiteHi));
  }

  /// A partial sum of some order may pass the largest number of the precision.
  void overflow(const Amount &amount, T largest) {
    const T beyond = largest / (1 + insidePiece(amount));
    mayBePlus |= amount.plus > beyond;
    mayBeMinus |= amount.minus > beyond;
  }

  Real sum() {
    overflow(all, T(std::numeric_limits<double>::max())); // of the partials
    Real set = around<T>(value, mayBeNan || isNan || (mayBePlus && mayBeMinus));
    if (isNan || (isPlus && isMinus))
      return set;
    const bool exact = all.isWhole && all.magnitude() <= T(0x1p53);
    // Partials in f64, and the sums of this class.
    const T off = error + ofReferences() +
                  (exact ? T(0) : 2 * gamma(all.count, F64_UNIT + 2 * D::OWN) * all.magnitude());
    set.lo = isPlus ? INFINITE : mayBeMinus ? -INFINITE : lo - off;
    set.hi = isMinus ? -INFINITE : mayBePlus ? INFINITE : hi + off;
    if (all.minus == 0 && !mayBeMinus) // a sum of no negative number is none
      set.lo = std::max(set.lo, T(0));
    if (all.plus == 0 && !mayBePlus)
      set.hi = std::min(set.hi, T(0));
    return set;
  }

  fuse::ReduceKind kind;
  PairedSum pair;
  typename D::Format format;
  Real extreme;
  T value = 0, lo = 0, hi = 0; ///< sums of the values and of the finite ends
  T mean = 0;                  ///< of moments: how large it can be
  T error = 0;                 ///< inside pieces
  Amount piece, all;           ///< of the current tensor, of those before
  bool mayBeNan = false, isNan = false;
  bool mayBePlus = false, mayBeMinus = false, isPlus = false, isMinus = false;
};

} // namespace fw::evaluator
