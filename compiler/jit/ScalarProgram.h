// The scalar program: what a launch computes once, in f64, before its kernels read the results
// rounded to the kernel's real type.
#pragma once

#include "compiler/support/Error.h"
#include "templates/vocab/scalar_operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fw {

inline bool operator==(const ScalarOperation &a, const ScalarOperation &b) {
  return a.code == b.code && a.a == b.a && a.b == b.b && a.c == b.c;
}

} // namespace fw

namespace fw::jit {

using fw::ScalarCode;
using fw::ScalarOperation;

const char *scalarName(ScalarCode code);
unsigned scalarArity(ScalarCode code);
std::optional<ScalarCode> findScalarCode(std::string_view name);

/// Where an input of the program comes from: a hyper by its place in the hyper table, or the step
/// count.
struct ScalarInput {
  enum class Kind : uint8_t { Hyper, Step } kind = Kind::Hyper;
  uint32_t index = 0; ///< place in ProgramRecord::hypers; 0 for the step
  bool operator==(const ScalarInput &) const = default;
};

struct ScalarProgram {
  std::vector<ScalarInput> inputs;
  std::vector<double> constants;
  std::vector<ScalarOperation> operations;
  std::vector<uint32_t> slots;     ///< value number of each slot of the scalar table
  std::vector<std::string> labels; ///< name of each slot, for comments and tools

  uint32_t valueCount() const {
    return uint32_t(inputs.size() + constants.size() + operations.size());
  }
  bool operator==(const ScalarProgram &) const = default;

  // For building: each returns the new value's number. Add all inputs, then constants, then
  // operations.
  uint32_t input(ScalarInput::Kind kind, uint32_t index = 0);
  uint32_t constant(double value); ///< equal bits share a number
  uint32_t operation(ScalarCode code, uint32_t a, uint32_t b = 0, uint32_t c = 0);
  void slot(uint32_t value, std::string label);
};

/// INTERNAL unless every operand and slot refers to an earlier value; run() relies on it.
Result<void> check(const ScalarProgram &program);

/// `inputs` in the order of program.inputs; `results` gets one f64 per slot.
void run(const ScalarProgram &program, const double *inputs, double *results);

/// "c1 = 1 - pow_int(beta1, step)": one line per operation, for dumps and `cache info`.
std::string print(const ScalarProgram &program, const std::vector<std::string> &hyperNames);

} // namespace fw::jit
