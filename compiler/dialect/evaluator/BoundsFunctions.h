// Element functions on intervals: the extremes of the true function, then its ulp bound.
#pragma once

#include "compiler/dialect/evaluator/Bounds.h"
#include "templates/vocab/math_fast.h"

namespace fw::evaluator {

template <class D> struct ElementFunctions;

template <class T> struct ElementFunctions<Bounds<T>> {
  using D = Bounds<T>;
  using Real = typename D::Real;
  using Format = typename D::Format;

  static Real within(const Real &exact, const Format &f, Ulps ulps) {
    return D::approximated(exact, f, T(f.isDouble ? ulps.f64 : ulps.f32));
  }

  static Real exp(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::exp(v); }), f, ulps::exp);
  }
  static Real exp2(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::exp2(v); }), f, ulps::exp2);
  }
  /// The hardware's forms, or any better one: an error that grows with |x|, and 0 for what is below
  /// the smallest normal number.
  static Real fastExp(const Real &x, const Format &f) {
    return hardware(rising(x, [](T v) { return std::exp(v); }), x, f, fast::SLOPE);
  }
  static Real fastExp2(const Real &x, const Format &f) {
    return hardware(rising(x, [](T v) { return std::exp2(v); }), x, f, 0);
  }
  static Real hardware(Real exact, const Real &x, const Format &f, T slope) {
    if (exact.empty())
      return exact;
    const auto at = [&](T end, T argument) { // an ulp is 2u at the most
      const Real point = exactly(end);
      const T ulps = T(fast::ULPS) + slope / 2 * std::abs(argument);
      return std::isfinite(argument) ? D::approximated(point, f, ulps) : point;
    };
    exact.lo = at(exact.lo, x.lo).lo;
    exact.hi = at(exact.hi, x.hi).hi;
    if (exact.lo < f.smallest)
      exact.lo = 0;
    return exact;
  }
  static Real expm1(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::expm1(v); }), f, ulps::expm1);
  }
  static Real log(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::log(v); }, T(-0.0)), f, ulps::log);
  }
  static Real log2(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::log2(v); }, T(-0.0)), f, ulps::log2);
  }
  static Real log1p(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::log1p(v); }, T(-1)), f, ulps::log1p);
  }
  static Real tanh(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::tanh(v); }), f, ulps::tanh);
  }
  static Real erf(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return std::erf(v); }), f, ulps::erf);
  }
  static Real sigmoid(const Real &x, const Format &f) {
    return within(rising(x, [](T v) { return 1 / (1 + std::exp(-v)); }), f, ulps::sigmoid);
  }
  static Real rsqrt(const Real &x, const Format &f) {
    return within(D::exactQuotient(exactly(T(1)), D::exactRoot(x)), f, ulps::rsqrt);
  }
  static Real sin(const Real &x, const Format &f) {
    return within(wave(x, std::sin(x.value)), f, ulps::sin);
  }
  static Real cos(const Real &x, const Format &f) {
    return within(wave(x, std::cos(x.value)), f, ulps::cos);
  }

  /// sin and cos move no faster than their argument and stay in [-1, 1]; NaN at infinity.
  static Real wave(const Real &x, T value) {
    Real result = around<T>(value, x.nan || x.hasInfinity());
    if (x.empty() || (x.isPoint() && std::isinf(x.lo)))
      return result;
    const T reach = std::max(x.hi - x.value, x.value - x.lo);
    const bool near = reach < 2; // false for NaN
    result.lo = near ? std::max(value - reach, T(-1)) : T(-1);
    result.hi = near ? std::min(value + reach, T(1)) : T(1);
    return result;
  }

  /// x^n by squaring, n of any sign; 1 for n = 0.
  static Real power(Real base, int64_t n, const Format &f) {
    Real result = exactly(T(1));
    for (uint64_t left = n < 0 ? -uint64_t(n) : uint64_t(n); left; left >>= 1) {
      if (left & 1)
        result = D::mul(result, base, f);
      if (left > 1)
        base = D::square(base, f);
    }
    return n < 0 ? D::div(exactly(T(1)), result, f) : result;
  }
};

} // namespace fw::evaluator
