// The programs that the suite runs: plain names and texts, shared by the suite, which knows the C
// header alone, and by write_suite_kernels, which emits their kernels for the fake driver.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace suite {

/// Pairs of "a=b,c=d".
using Pairs = std::vector<std::pair<std::string, std::string>>;

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
