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

/// Where an input of the program comes from.
struct ScalarInput {
  enum class Kind : uint8_t {
    Hyper,       ///< index: place in ProgramRecord::hypers
    Step,        ///< the count of steps
    Reduction,   ///< index: number of a reduction, counted through the stages
    TensorSize,  ///< elements of the tensor that the row is for
    AllSize,     ///< elements of all tensors
    TensorIndex, ///< number of the tensor
    Operand,     ///< index: place in ProgramRecord::operands of one with a value per tensor or plan
    AxisSize,    ///< index: number of an axis of the op's header
  } kind = Kind::Hyper;
  uint32_t index = 0; ///< 0 where the kind takes none
  bool operator==(const ScalarInput &) const = default;
};

/// The new value of an operand that has one per tensor or per plan.
struct ScalarResult {
  uint32_t value = 0;
  uint32_t operand = 0; ///< place in ProgramRecord::operands
  bool always = false;  ///< written by skipped runs too
  bool operator==(const ScalarResult &) const = default;
};

struct ScalarProgram {
  std::vector<ScalarInput> inputs;
  std::vector<double> constants;
  std::vector<ScalarOperation> operations;
  std::vector<uint32_t> slots;     ///< value number of each slot of the scalar table
  std::vector<std::string> labels; ///< name of each slot, for comments and tools
  std::vector<ScalarResult> results;
  /// Value number of the decision that the run changes nothing but what is written always.
  std::optional<uint32_t> skip;

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

/// INTERNAL unless every operand, slot and result refers to an earlier value; run() relies on it.
Result<void> check(const ScalarProgram &program);

/// `inputs` in the order of program.inputs; `slots` gets one f64 per slot.
void run(const ScalarProgram &program, const double *inputs, double *slots);

/// The same, and all values by number: `values` holds valueCount() of them.
void runAll(const ScalarProgram &program, const double *inputs, double *values);

/// "c1 = 1 - pow_int(beta1, step)": one line per operation, for dumps and `cache info`.
std::string print(const ScalarProgram &program, const std::vector<std::string> &hyperNames);

} // namespace fw::jit
