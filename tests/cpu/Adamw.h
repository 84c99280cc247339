// AdamW with bf16 gradients as phase-level text, and the same operations as a plain loop.
#pragma once

#include "tests/cpu/Program.h"

#include <cmath>
#include <string>

namespace fw::cpu::test {

/// Slots, in order: lr, beta1, beta2, rest1 = 1 - beta1, rest2 = 1 - beta2, c1, c2 (the bias
/// corrections), eps, decay.
struct AdamwScalars {
  float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, rest1 = 0.1f, rest2 = 0.001f, c1 = 0.271f,
        c2 = 0.002997f, eps = 1e-8f, decay = 0.01f;
};

/// The pass over elements.
inline std::string adamwBody(bool narrowGradient) {
  return std::string("%p = fuse.load \"p\" : f32\n") +
         (narrowGradient ? "%raw = fuse.load \"g\" : bf16\n" : "%g = fuse.load \"g\" : f32\n") +
         "%m = fuse.load \"m\" : f32\n%v = fuse.load \"v\" : f32\n" +
         (narrowGradient ? "%g = fuse.cast %raw : bf16 to f32\n" : "") + R"(
    %g1 = arith.mulf %rest1, %g : f32
    %m1 = math.fma %beta1, %m, %g1 : f32
    %gg = arith.mulf %g, %g : f32
    %g2 = arith.mulf %rest2, %gg : f32
    %v1 = math.fma %beta2, %v, %g2 : f32
    %mh = arith.divf %m1, %c1 : f32
    %vh = arith.divf %v1, %c2 : f32
    %root = math.sqrt %vh : f32
    %low = arith.addf %root, %eps : f32
    %update = arith.divf %mh, %low : f32
    %step = math.fma %decay, %p, %update : f32
    %minus = arith.negf %lr : f32
    %p1 = math.fma %minus, %step, %p : f32
    fuse.store "p", %p1 : f32
    fuse.store "m", %m1 : f32
    fuse.store "v", %v1 : f32)";
}

/// The program; `gradient` is "f32" or "bf16".
inline std::string adamwProgram(const std::string &gradient) {
  return program({{"p", "param", "f32"},
                  {"g", "grad", gradient},
                  {"m", "state", "f32"},
                  {"v", "state", "f32"}},
                 {"lr", "beta1", "beta2", "rest1", "rest2", "c1", "c2", "eps", "decay"},
                 adamwBody(gradient == "bf16"));
}

/// One element of the same.
inline void adamwElement(const AdamwScalars &s, float &p, float g, float &m, float &v) {
  m = std::fma(s.beta1, m, s.rest1 * g);
  v = std::fma(s.beta2, v, s.rest2 * (g * g));
  float update = (m / s.c1) / (std::sqrt(v / s.c2) + s.eps);
  p = std::fma(-s.lr, std::fma(s.decay, p, update), p);
}

} // namespace fw::cpu::test
