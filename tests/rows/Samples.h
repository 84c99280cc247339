// The sample ops of pattern `rows` as kernels of any width and schedule, in text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/rules/Rows.h"
#include "compiler/target/Target.h"

namespace fw::rows {

/// A kernel of a sample op: "rms_norm columns=1000 aligned=0 in=bf16 threads_per_row=64". Keys are
/// the fields here and the decisions of a schedule.
struct Spec {
  std::string name; ///< of the file that gets it
  std::string op;   ///< the stem of one of templates/rows/*_sample.cuh
  passes::RowsFacts facts{.columns = 1024, .aligned = true};
  std::string in = "bf16", out = "bf16", column = "bf16"; ///< dtypes
  bool fast = false;   ///< softmax: exponentials in the hardware's form
  bool causal = false; ///< softmax: nothing behind the diagonal
  bool wideIndex = false;
  passes::ScheduleOverrides overrides;

  /// Whether numbers are computed in f64.
  bool isDouble() const { return in == "f64"; }
};

/// "NAME OP key=value..." as one line.
Result<Spec> parseSpec(std::string_view line);

struct Sample {
  Spec spec;
  passes::RowsSchedule schedule;
  int64_t registers; ///< as the rule estimates them
  int64_t sharedBytes;
  std::string symbol, text;
};

/// The kernel for `arch`.
Result<Sample> makeSample(const Spec &spec, const target::Arch &arch);

/// One line of JSON about it, without the closing brace.
std::string describe(const Sample &sample);

} // namespace fw::rows
