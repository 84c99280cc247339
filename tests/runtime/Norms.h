// Programs of two passes made by hand: a norm of all gradients and the largest of each tensor, then
// a step that is scaled by them, or skipped.
#pragma once

#include "runtime/launch/Launch.h"

#include <cmath>
#include <string>

namespace fw::launch {

/// Adds up squares one by one and finds the largest number.
template <class T>
void reduceGradient(const void *const *pointers, int64_t begin, int64_t end, const void *,
                    double *results) {
  const T *g = static_cast<const T *>(pointers[0]);
  T sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    sum += g[i] * g[i];
    results[1] = combine(Reduction::Kind::Max, results[1], double(g[i]));
  }
  results[0] += double(sum);
}

template <class T>
void stepScaled(const void *const *pointers, int64_t begin, int64_t end, const void *scalars,
                double *) {
  T *p = static_cast<T *>(const_cast<void *>(pointers[0]));
  const T *g = static_cast<const T *>(pointers[1]);
  for (int64_t i = begin; i < end; ++i)
    p[i] -= static_cast<const T *>(scalars)[0] * g[i];
}

/// Operands: p, g, most[tensor] (out), norm[all] (out), count[all] (state). In equations:
///   norm = sqrt(sum[keep](g^2));  most = max[tensor](g);  skip where norm is not finite
///   p = p - lr/norm*g;  count = count + 1
template <class T = float> Program normProgram(Reduction::Keep keep = Reduction::Keep::All) {
  using Kind = jit::ScalarInput::Kind;
  using Code = jit::ScalarCode;
  const std::string dtype = sizeof(T) == 8 ? "f64" : "f32";
  Program program;
  program.operands = {
      {.name = "p", .dtype = dtype, .bytes = sizeof(T), .read = true, .written = true},
      {.name = "g", .dtype = dtype, .bytes = sizeof(T), .read = true},
      {.name = "most", .dtype = "f32", .bytes = 4, .written = true, .scope = Scope::Tensor},
      {.name = "norm", .dtype = "f64", .bytes = 8, .written = true, .scope = Scope::All},
      {.name = "count",
       .dtype = "f32",
       .bytes = 4,
       .read = true,
       .written = true,
       .scope = Scope::All}};
  program.hypers = {{.name = "lr", .fallback = 1, .low = 0}};
  Stage &first = program.stages.emplace_back();
  first.kernel = {.function = reduceGradient<T>, .operands = {1}, .doubleScalars = sizeof(T) == 8};
  first.reductions = {{Reduction::Kind::Sum, keep},
                      {Reduction::Kind::Max, Reduction::Keep::Tensor}};
  Stage &second = program.stages.emplace_back();
  jit::ScalarProgram &scalars = second.scalars;
  const uint32_t sum = scalars.input(Kind::Reduction, 0), most = scalars.input(Kind::Reduction, 1),
                 count = scalars.input(Kind::Operand, 4), lr = scalars.input(Kind::Hyper),
                 one = scalars.constant(1);
  const uint32_t norm = scalars.operation(Code::sqrt, sum);
  scalars.slot(scalars.operation(Code::div, lr, norm), "scale");
  scalars.skip = scalars.operation(Code::not_, scalars.operation(Code::isfinite, norm));
  scalars.results = {
      {most, 2, true}, {norm, 3, true}, {scalars.operation(Code::add, count, one), 4, false}};
  second.kernel = {
      .function = stepScaled<T>, .operands = {0, 1}, .slots = 1, .doubleScalars = sizeof(T) == 8};
  return program;
}

} // namespace fw::launch
