// Tensors in host memory for a kernel of a sample op of pattern `rows`, and what double loops make
// of them, within the rounding errors that the kernel's order of sums allows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "templates/vocab/rows_launch.h"
#include "tests/emulator/Bundle.h"
#include "tests/rows/Samples.h"

namespace fw::rows {

/// Scalars of the sample ops.
constexpr float eps = 1e-5f, scale = 0.75f;

/// A tensor of a list: all its operands have rows of `columns` elements, `stride` apart, and start
/// `shift` elements behind a line of memory. An op with several axes of rows has six times as many.
struct Shape {
  size_t rows = 1, columns = 1, shift = 0, stride = 0; ///< stride 0: dense
};

/// Numbers that rows are filled with.
enum class Numbers {
  USUAL,
  OFFSET,   ///< small differences about a large mean
  INFINITE, ///< some are -inf; the first row is nothing else
};

/// Memory around the operands, where a kernel that goes astray must leave its traces: a fault of
/// the sanitizer would end the test. Numbers there are large, and change every result they get
/// into.
enum class Guards { NONE, WIDE };

/// How a launch is emulated.
struct Orders {
  uint64_t seed = 1;
  unsigned resident = 2;
};

class RowsCase {
public:
  RowsCase(const Spec &spec, const emulator::BundledKernel &kernel, std::vector<Shape> shapes,
           Numbers numbers = Numbers::USUAL, Guards guards = Guards::NONE);

  /// Runs the kernel: nothing, or the fault.
  std::string run(Orders orders = {});

  /// The first number that is wrong, or nothing.
  std::string compare() const;

  /// All bytes of the outputs.
  std::string outputs() const;

private:
  static constexpr size_t kAxes = 3;

  struct Operand {
    std::string dtype;
    enum Kind { STREAM, COLUMN, ROW } kind;
    bool isOutput;
    size_t bytes = 0, shift = 0, count = 0; ///< of an element; before the first; elements of a row
    size_t guard = 0, size = 0;             ///< bytes before and behind; of all
    std::array<size_t, kAxes> sizes = {};
    std::array<int64_t, kAxes> strides = {}; ///< bytes
    int64_t origin = 0;                      ///< of row 0
    std::shared_ptr<char> memory;

    char *at(size_t row, size_t i) const;
    double get(size_t row, size_t i) const;
    void set(size_t row, size_t i, double x) const;
  };
  struct Tensor {
    Shape shape;
    std::vector<Operand> operands;
  };
  struct Expected {
    double value, bound;
  };
  using Outputs = std::vector<std::vector<Expected>>;
  struct Places;

  bool hasAxes() const { return spec.op == "biased_softmax"; }
  std::array<size_t, kAxes> sizesOf(const Shape &shape) const;
  void add(Shape shape);
  Operand make(const std::string &dtype, Operand::Kind kind, bool isOutput, const Shape &shape,
               const Places &places) const;
  void fill(Tensor &tensor);
  u32 record(const Tensor &tensor, const RowsLayout &layout, u32 firstBlock, char *out) const;
  template <class Real> std::string runWith(Orders orders);
  std::string compareRow(const Tensor &tensor, size_t row) const;
  std::string compareGaps(const Tensor &tensor) const;

  // What the outputs of a row must be, in order.
  void expectRow(const Tensor &tensor, size_t row, Outputs &out) const;
  void expectNorm(const Tensor &tensor, size_t row, Outputs &out) const;
  void expectSoftmax(const Tensor &tensor, size_t row, Outputs &out) const;
  void expectCentred(const Tensor &tensor, size_t row, Outputs &out) const;
  void expectGradient(const Tensor &tensor, size_t row, Outputs &out) const;
  void expectAffine(const Tensor &tensor, size_t row, Outputs &out) const;
  double unit() const { return spec.isDouble() ? 0x1p-53 : 0x1p-24; } ///< half an ulp of 1
  double sumError(size_t columns) const;

  Spec spec;
  const emulator::BundledKernel &kernel;
  Numbers numbers;
  Guards guards;
  std::vector<Tensor> tensors;
  uint32_t state = 1;
};

} // namespace fw::rows
