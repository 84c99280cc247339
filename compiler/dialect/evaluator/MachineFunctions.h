// Element functions in machine arithmetic: the vocabulary's own text, in f32 and in f64.
#pragma once

#include "compiler/dialect/evaluator/BoundsFunctions.h"
#include "compiler/dialect/evaluator/Machine.h"
#include "templates/vocab/math.h"
#include "templates/vocab/math_lean.h"

namespace fw::evaluator {

template <> struct ElementFunctions<Machine> {
  using D = Machine;
  using Format = Machine::Format;

#define FW_FUNCTION(name, ...)                                                                     \
  static double name(double x, const Format &f) {                                                  \
    return D::in(f, [](auto v) { return math::name(v); }, x);                                      \
  }
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
  /// As the CPU does it.
  static double fastExp(double x, const Format &f) {
    return D::in(f, [](auto v) { return math::leanExp(v); }, x);
  }
  static double fastExp2(double x, const Format &f) {
    return D::in(f, [](auto v) { return math::leanExp2(v); }, x);
  }
  static double power(double x, int64_t n, const Format &f) {
    return D::in(f, [n](auto v) { return math::power(v, n); }, x);
  }
};

} // namespace fw::evaluator
