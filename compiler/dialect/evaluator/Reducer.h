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
// The sum of n + 1 numbers is off by at most gamma_n * (sum of magnitudes) (Higham 2002, section
// 4.2), gamma_n = n*u / (1 - n*u). Whole numbers that stay below 2^digits are added without a
// rounding.
#pragma once

#include "compiler/dialect/evaluator/Bounds.h"
#include "compiler/dialect/evaluator/Plan.h"

namespace fw::evaluator {

/// Of a domain that plans no reductions.
template <class D> class Reducer {
public:
  Reducer(fuse::ReduceKind, const typename D::Format &) {}
  void add(const typename D::Real &) {}
  void endTensor() {}
  typename D::Real result() { return {}; }
  typename D::Real resultOfElements() { return {}; }
};

template <class T> class Reducer<Bounds<T>> {
public:
  using D = Bounds<T>;
  using Real = typename D::Real;

  Reducer(fuse::ReduceKind kind, const typename D::Format &format)
      : kind(kind), format(format),
        extreme(exactly(kind == fuse::ReduceKind::Max ? -INFINITE : INFINITE)) {}

  void add(const Real &x) {
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
    const bool isExact = all.count <= 1 || (all.isWhole && all.magnitude() <= format.wholes);
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
    const T off =
        error + (exact ? T(0) : 2 * gamma(all.count, F64_UNIT + 2 * D::OWN) * all.magnitude());
    set.lo = isPlus ? INFINITE : mayBeMinus ? -INFINITE : lo - off;
    set.hi = isMinus ? -INFINITE : mayBePlus ? INFINITE : hi + off;
    if (all.minus == 0 && !mayBeMinus) // a sum of no negative number is none
      set.lo = std::max(set.lo, T(0));
    if (all.plus == 0 && !mayBePlus)
      set.hi = std::min(set.hi, T(0));
    return set;
  }

  fuse::ReduceKind kind;
  typename D::Format format;
  Real extreme;
  T value = 0, lo = 0, hi = 0; ///< sums of the values and of the finite ends
  T error = 0;                 ///< inside pieces
  Amount piece, all;           ///< of the current tensor, of those before
  bool mayBeNan = false, isNan = false;
  bool mayBePlus = false, mayBeMinus = false, isPlus = false, isMinus = false;
};

} // namespace fw::evaluator
