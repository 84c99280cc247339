// The programs that the suite runs: plain names and texts, shared by the suite, which knows the C
// header alone, and by write_suite_kernels, which emits their kernels for the fake driver.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace suite {

/// Pairs of "a=b,c=d".
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// An optimizer of ours with two parameters.
inline constexpr const char *pairText =
    "op pair over elements {\n"
    "  param p, q;  grad g, h;  state v = 0;  step t;  hyper lr = 0.01 >= 0, beta = 0.9 in [0, 1)\n"
    "  v = beta*v + (1 - beta)*(g^2 + h^2)\n"
    "  u = lr/((sqrt(v) + 1e-3)*t)\n"
    "  p = p - u*g;  q = q - u*h\n"
    "}\n";

struct ProgramRow {
  std::string op;      ///< a shipped one, unless `text` is given
  std::string dtypes;  ///< "grad=bf16,p.copy=bf16"
  std::string options; ///< "amsgrad=true"
  std::string features = {};
  std::string text = {}; ///< of an op of ours

  std::string name() const; ///< as a test's name: adamw_grad_bf16_p_copy_bf16_copy
};

Pairs pairsOf(const std::string &list);
std::vector<std::string> namesOf(const std::string &list);

/// Every shipped profile (ops/profiles.def), then what programs.def adds.
const std::vector<ProgramRow> &programRows();
/// By name(); a program must have it.
const ProgramRow &programRow(const std::string &name);

/// Targets for which kernels of a row are emitted: "sm_90", and more for the rows that the tests of
/// several devices use.
std::vector<std::string> targetsOf(const ProgramRow &row);

} // namespace suite
