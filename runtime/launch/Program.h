// What launches need to know of a program. Plain data, made once.
#pragma once

#include "compiler/jit/ScalarProgram.h"
#include "runtime/launch/AxisTable.h"
#include "runtime/launch/Scalars.h"
#include "runtime/launch/Tensors.h"

#include <optional>
#include <span>
#include <vector>

namespace fw::launch {

/// A kernel's function over elements [begin, end) of one run; `scalars` is a row of its slots, and
/// `results` one number per reduction, to which it adds its own.
using KernelFunction = void (*)(const void *const *pointers, int64_t begin, int64_t end,
                                const void *scalars, double *results);

struct Kernel {
  KernelFunction function = nullptr; ///< null for a GPU's
  std::vector<uint32_t> operands; ///< columns of its pointer array, as places in Program::operands
  size_t slots = 0;
  bool doubleScalars = false; ///< slots are f64, else f32
};

/// What a kernel leaves behind for the stages after it.
struct Reduction {
  enum class Kind : uint8_t { Sum, Max, Min } kind = Kind::Sum;
  enum class Keep : uint8_t { Tensor, All, World } keep = Keep::All;
  bool operator==(const Reduction &) const = default;
};

/// Of nothing: 0, -infinity or infinity.
double neutralOf(Reduction::Kind kind);
/// NaN stays NaN.
double combine(Reduction::Kind kind, double a, double b);

/// A scalar program and the kernel that reads its slots. Its inputs of kind Hyper and Step are
/// places in Program::hypers.
struct Stage {
  jit::ScalarProgram scalars;
  std::optional<Kernel> kernel;
  std::vector<Reduction> reductions; ///< of the kernel
};

/// Immutable.
struct Program {
  std::vector<Operand> operands;
  std::vector<Hyper> hypers;
  std::vector<Stage> stages; ///< in the order they run; the last one writes
  Header header = {};        ///< with axes: one stage, whose kernel is called for each row
  AxisTable axes = {};       ///< of header and operands

  /// One kernel over elements, whose slots depend on hypers alone.
  bool isOnePass() const;
  bool reduces() const;
  size_t reductionCount() const;
  size_t kernelCount() const;
  /// True when scalar programs have other inputs or results for each tensor.
  bool variesByTensor() const;
  /// Exchanges with other ranks in a run.
  size_t exchangeCount() const;
  /// Memory that the kernels of a run move per element.
  int64_t streamedBytes() const;

  /// By place in `hypers`: whether the decision to skip, or a number that is one in all, depends on
  /// it.
  std::vector<bool> sharedHypers() const;

  /// Slots of the last stage from the values of `hypers`, in f64: for programs of one stage that
  /// read nothing else.
  void scalarProgram(std::span<const double> hypers, std::span<double> slots) const;
};

/// Memory that an element moves, over all operands: once per read and once per write.
int64_t bytesPerElement(std::span<const Operand> operands);

} // namespace fw::launch
